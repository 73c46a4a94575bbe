"""What the requests of all streams of a run share."""

from dataclasses import dataclass, field

import requests

from tap_leadintent.api.clock import ServerClock
from tap_leadintent.api.doubts import Doubts
from tap_leadintent.api.limits import Limits
from tap_leadintent.api.traffic import Traffic
from tap_leadintent.singer.interruption import Interruption


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """What the requests of all streams of a run share; safe for several threads."""

    session: requests.Session
    """Keeps the connections, and the headers of each request, with the key."""

    limits: Limits
    """What bounds each request."""

    traffic: Traffic
    """Delays requests, and knows whether one has succeeded."""

    clock: ServerClock
    """Compares the server's clock with ours."""

    interruption: Interruption
    """Ends the run after a signal."""

    doubts: Doubts = field(default_factory=Doubts)
    """Bounds how many pages are asked for again because they differ from others."""
