"""Runs of the tap over the model of the API, in this process."""

import io
import json
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from threading import Condition, Lock
from typing import Any

import requests
import time_machine
import urllib3
from requests.adapters import BaseAdapter
from typing_extensions import override

from tap_leadintent.api.limits import Limits
from tap_leadintent.run import AnyStream
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import Json
from tests.support.model import DAY, EPOCH, RANGES, Api, iso
from tests.support.store import KilledError, Store

DEFAULTS: Json = {
    "start_date": iso(0),
    "base_url": "https://api.example.com",
    "api_key": "model-key",
    # The model's requests may take hours.
    "request_timeout_seconds": 86_400,
}
"""Settings of every run that does not say otherwise."""

CONFIG: Json = {
    "page_size": 10,
    "lookback_days": 0.25,  # sixteen hours are read again after a day
}
"""Settings of a run in windows, from the model's first second on."""

STRICT = {**CONFIG, "lookback_days": 0}

DAILY = {**CONFIG, "window_days": (DAY + 1.5) / DAY}
"""Settings of a run in windows of a day and the second that they overlap."""


class Adapter(BaseAdapter):
    """Brings the tap's requests to the model."""

    def __init__(
        self,
        api: Api,
        note_time: Callable[[], object],
    ) -> None:
        super().__init__()
        self.api = api
        self._note_time = note_time
        self._responses = 0
        self._lock = Lock()

    def send(
        self,
        request: requests.PreparedRequest,
        *_args: Any,
        **_kwargs: Any,
    ) -> requests.Response:
        """Respond to one request after the other, however many threads ask."""
        api = self.api
        response = requests.Response()
        response.request = request
        response.url = request.url or ""
        with self._lock:
            api.now += api.seconds_to_query
            response.status_code, page = api.respond(json.loads(request.body or ""))
            api.now += api.seconds_to_respond
            seconds = EPOCH + api.now + api.odd_clocks.get(self._responses, 0)
            clock = datetime.fromtimestamp(seconds, tz=UTC)
            api.now += api.seconds_per_request
            self._note_time()
            self._responses += 1
        response.headers["Date"] = format_datetime(clock, usegmt=True)
        body = io.BytesIO(json.dumps(page).encode())
        response.raw = urllib3.HTTPResponse(body, preload_content=False)
        return response

    def close(self) -> None:
        """Nothing is open."""


def connect(
    tap: TapLeadIntent,
    api: Api,
    note_time: Callable[[], object] = lambda: None,
) -> None:
    """Let a tap send its requests to the model; each request takes time."""
    session = next(iter(tap.streams.values())).run_context.session
    session.mount("https://", Adapter(api, note_time))


def _wait(
    api: Api,
    condition: Condition,
    seconds: float,
) -> None:
    """Let the time of the model pass, as nothing else does while all wait."""
    if seconds > DAY:
        # Another request is under way.
        condition.wait(1)
    else:
        condition.wait(0.001)
        api.now += seconds


def run(  # noqa: PLR0913
    api: Api,
    store: Store,
    config: Mapping[str, Any],
    *,
    clock_ahead: float = 0,
    killed_after: int | None = None,
    catalog: Json | None = None,
    selected: Collection[str] = ("leads",),
) -> bool:
    """Run the tap once over the model's leads, which stand for other records too.

    Args:
        api: The model.
        store: The target.
        config: Settings besides the defaults.
        clock_ahead: Seconds by which the clock of the tap's machine is ahead.
        killed_after: Number of messages after which it is killed.
        catalog: A catalog.
        selected: The streams to read.

    Returns:
        Whether it has read everything that it was to read.
    """

    class ModelTap(TapLeadIntent):
        """The tap, with a clock that goes on with each request."""

        limits = Limits(
            monotonic=lambda: api.now,
            longest_backoff=0,
            wait=partial(_wait, api),
        )

        @override
        def discover_streams(self) -> list[AnyStream]:
            """Leave out what is not read, as each stream takes time to set up."""
            found = super().discover_streams()
            return [stream for stream in found if stream.name in selected]

    store.begin(killed_after)
    began = EPOCH + api.now + clock_ahead
    with time_machine.travel(began, tick=False) as clock:
        tap = ModelTap(
            config={**DEFAULTS, **config},
            state=json.loads(json.dumps(store.state)),
            catalog=catalog,
            message_writer=store,  # type: ignore[arg-type]
        )
        connect(
            tap,
            api,
            lambda: clock.move_to(EPOCH + api.now + clock_ahead),
        )
        for stream in tap.streams.values():
            stream.selected = True
        try:
            tap.sync_all()
        except KilledError:
            return False
    store.end()
    return all(stream.stats.has_succeeded for stream in tap.streams.values())


def missing(api: Api, store: Store) -> int:
    """Return how many of the leads that the API returns now are not in the target."""
    return len(api.visible().keys() - store.rows.keys())


def count_requests(api: Api) -> int:
    """Return how many requests were sent since the last call, and forget them."""
    sent = len(api.requests) + len(api.refused)
    api.requests.clear()
    api.refused.clear()
    return sent


def asked(api: Api) -> list[tuple[str, str, str]]:
    """Return the ranges that were asked for since the last call, and forget them."""
    ranges: list[tuple[str, str, str]] = []
    for body in api.requests:
        names = body.keys() & RANGES
        ranges += [(name, *body[name].values()) for name in names]
    api.requests.clear()
    return ranges


def entries(store: Store) -> list[Json]:
    """Return the intervals that the state holds of the leads."""
    bookmark: dict[str, list[Json]] = store.state["bookmarks"]["leads"]
    assert bookmark.keys() <= {"coverage", "fields", "envelope"}, (
        "the SDK has kept one of its own"
    )
    return [entry for entry in bookmark["coverage"] if "range" in entry]
