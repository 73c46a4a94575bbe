"""What the requests of all streams of a run share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from requests.adapters import HTTPAdapter

    from tap_leadintent.api.rate_limit import Pace
    from tap_leadintent.api.server_clock import ServerClock
    from tap_leadintent.redaction import Secret


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What all requests share; safe for any number of threads."""

    secret: Secret
    """Hides the key in messages."""

    pace: Pace
    """Delays requests, and ends the run after a signal."""

    waiting: Callable[[], AbstractContextManager[None]]
    """Gives a context for a wait, which a signal may end."""

    adapter: HTTPAdapter
    """Keeps the connections."""

    clock: ServerClock
    """Compares the server's clock with ours."""
