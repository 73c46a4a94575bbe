"""A model of the API for the leads stream: small, exact, and easy to disturb.

It answers the tap in this process, while time passes and records appear and change
between its pages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from threading import Lock
from typing import TYPE_CHECKING, Any
from unittest import mock

import requests
from requests.adapters import BaseAdapter

from tap_leadintent.tap import TapLeadIntent
from tests.support.store import KilledError, Store

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

HOUR = 3600
DAY = 24 * HOUR

DEFAULTS: dict[str, Any] = {
    "base_url": "https://api.example.com",
    "api_key": "model-key",
}
"""Settings of every run that does not say otherwise."""

EPOCH = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
"""The second that the model's own times count from."""


RANGES = ("date_found", "latest_signal", "latest_activity", "observed_at")


def iso(seconds: float) -> str:
    """Write a time of the model."""
    instant = datetime.fromtimestamp(EPOCH + seconds, tz=UTC)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(text: str) -> float:
    """Read a time of the model."""
    return datetime.fromisoformat(text).timestamp() - EPOCH


def width_of(asked: Mapping[str, str]) -> float:
    """Measure a range that was asked for, in seconds."""
    return seconds_of(asked["end_time"]) - seconds_of(asked["start_time"])


CONFIG = {"start_date": iso(0), "page_size": 10}
"""Settings of a run in windows, from the model's first second on."""

DAILY = {**CONFIG, "window_days": (DAY + 1.5) / DAY}
"""Settings of a run in windows of a day and the second that they overlap."""


@dataclass(frozen=True)
class Version:
    """What the API shows of a lead from an instant on."""

    shown_from: float
    observed_at: float


@dataclass
class Lead:
    """A lead and all that will become of it."""

    id: str
    found_at: float
    versions: list[Version]
    signal: str = "a"
    """What the filter `signals` goes by."""

    def version(self, now: float) -> int | None:
        """Tell which version the API shows, or None before the lead appears."""
        shown = [n for n, v in enumerate(self.versions) if v.shown_from <= now]
        return max(shown) if shown else None


@dataclass
class Api:
    """The leads endpoint."""

    now: float = 0
    leads: list[Lead] = field(default_factory=list)
    seconds_to_query: float = 0
    """From when a request is sent until its query runs."""
    seconds_to_answer: float = 0
    """From the query until the answer is ready, which is its `Date`."""
    seconds_per_request: float = 0
    """From then until the answer arrives."""
    odd_clocks: dict[int, float] = field(default_factory=dict)
    """Seconds by which a machine's clock is ahead, by the number of a run's answer."""
    holds_start: bool = True
    holds_end: bool = True
    by_offset: bool = False
    by_id: bool = False
    """Whether pages are sorted by id, and not by the time that is asked for."""
    newest_first: bool = True
    ignores_ranges: bool = False
    recurring: bool = False
    """Whether everything happens all the time, so that every range holds it."""
    refuses_the_past: bool = False
    refuses_the_future: bool = False
    refuses_cursors: int = 0
    refuses_cursors_with: int = 410
    refuses_unfiltered: bool = False
    widest: float | None = None
    """The most seconds that a range may ask for."""
    refuses_wide_with: int = 422
    forbidden_at: int | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    """Requests whose range was too wide."""

    @property
    def seconds_a_request(self) -> float:
        """How long a request takes."""
        after = self.seconds_to_answer + self.seconds_per_request
        return self.seconds_to_query + after

    def shown(self) -> dict[str, int]:
        """Tell which version of which lead the API shows now."""
        return {
            lead.id: version
            for lead in self.leads
            if (version := lead.version(self.now)) is not None
        }

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Serve a page as of now."""
        self.requests.append(dict(body))
        time_range = next((name for name in RANGES if name in body), "")
        rows = sorted(
            self._rows(time_range, body), key=self._place, reverse=self.newest_first
        )
        limit, after = body["cursor"]["limit"], body["cursor"].get("after")
        begin = 0
        if after is not None:
            position = json.loads(after)
            begin = (
                position
                if self.by_offset
                else sum(self._before(self._place(row), position) for row in rows)
            )
        page = rows[begin : begin + limit]
        more = begin + limit < len(rows)
        last = self._place(page[-1]) if page else None
        mark = begin + limit if self.by_offset else last
        return {
            "data": [json.loads(record) for _, _, record in page],
            "cursor": {"next": json.dumps(mark) if more else "", "has_more": more},
        }

    def is_ahead(self, body: Mapping[str, Any]) -> bool:
        """Tell whether a request's range ends in the future."""
        ends = [body[name]["end_time"] for name in RANGES if name in body]
        return any(seconds_of(end) > self.now for end in ends)

    def is_too_wide(self, body: Mapping[str, Any]) -> bool:
        """Tell whether a request's range is wider than the API allows."""
        asked = [width_of(body[name]) for name in RANGES if name in body]
        if not asked:
            return self.refuses_unfiltered
        return self.widest is not None and max(asked) > self.widest

    def _place(self, row: tuple[float, str, str]) -> list[Any]:
        time, key, _ = row
        return [key] if self.by_id else [time, key]

    def _before(self, place: list[Any], mark: list[Any]) -> bool:
        return place >= mark if self.newest_first else place <= mark

    def _rows(self, name: str, body: Mapping[str, Any]) -> list[tuple[float, str, str]]:
        rows = []
        for lead in self.leads:
            if lead.signal not in body.get("signals", lead.signal):
                continue
            number = lead.version(self.now)
            if number is None:
                continue
            observed = lead.versions[number].observed_at
            time = lead.found_at if name == "date_found" else observed
            if name and not self.ignores_ranges and not self._holds(body[name], time):
                continue
            record = {
                "id": lead.id,
                "version": number,
                "signal": {"observed_at": iso(observed)},
            }
            rows.append((time, lead.id, json.dumps(record)))
        return rows

    def _holds(self, asked: Mapping[str, str], time: float) -> bool:
        start, end = seconds_of(asked["start_time"]), seconds_of(asked["end_time"])
        if self.recurring:
            return end > 0
        after_start = start <= time if self.holds_start else start < time
        before_end = time <= end if self.holds_end else time < end
        return after_start and before_end


@dataclass(frozen=True)
class Clock:
    """Stands in for the module `time` where requests are sent."""

    api: Api
    ahead: float

    def monotonic(self) -> float:
        """Give seconds since some time."""
        return self.api.now

    def time(self) -> float:
        """Give seconds since 1970, by the clock of the tap's machine."""
        return EPOCH + self.api.now + self.ahead


class Adapter(BaseAdapter):
    """Brings the tap's requests to the model."""

    def __init__(self, api: Api) -> None:
        super().__init__()
        self.api = api
        self._answers = 0
        self._lock = Lock()

    def send(
        self, request: requests.PreparedRequest, *_args: Any, **_kwargs: Any
    ) -> requests.Response:
        """Answer one request after the other, however many threads ask."""
        with self._lock:
            return self._answer(request)

    def _answer(self, request: requests.PreparedRequest) -> requests.Response:
        assert request.body is not None
        response = requests.Response()
        response.request = request
        response.url = request.url or ""
        body = json.loads(request.body)
        self.api.now += self.api.seconds_to_query
        ahead = self.api.odd_clocks.get(self._answers, 0)
        self._answers += 1
        response.status_code, page = self._page(body)
        self.api.now += self.api.seconds_to_answer
        clock = datetime.fromtimestamp(EPOCH + self.api.now + ahead, tz=UTC)
        response.headers["Date"] = format_datetime(clock, usegmt=True)
        self.api.now += self.api.seconds_per_request
        response._content = json.dumps(page).encode()  # noqa: SLF001
        return response

    def _page(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Give the status and the content of an answer."""
        if "after" in body["cursor"] and self.api.refuses_cursors:
            self.api.refuses_cursors -= 1
            return self.api.refuses_cursors_with, {"error": "this cursor has expired"}
        if self.api.refuses_the_past and '"1970-' in json.dumps(body):
            self.api.requests.append(body)
            return 400, {"error": "that was long ago"}
        if self.api.is_too_wide(body):
            self.api.refused.append(body)
            return self.api.refuses_wide_with, {"error": "at most a week"}
        if self.api.refuses_the_future and self.api.is_ahead(body):
            return 400, {"error": "end_time is in the future"}
        if len(self.api.requests) == self.api.forbidden_at:
            self.api.forbidden_at = None
            return 403, {"error": "not for you"}
        return 200, self.api.answer(body)

    def close(self) -> None:
        """Nothing is open."""


def run(  # noqa: PLR0913
    api: Api,
    store: Store,
    config: Mapping[str, Any],
    *,
    clock_ahead: float = 0,
    killed_after: int | None = None,
    catalog: dict[str, Any] | None = None,
    selected: Collection[str] = ("leads",),
    adapter: Adapter | None = None,
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
        adapter: Brings the requests to the model, if not one after the other.

    Returns:
        Whether it came to its end.
    """
    store.begin(killed_after)
    now = EPOCH + api.now + clock_ahead
    with mock.patch("singer_sdk.plugin_base.time.time", return_value=now):
        tap = TapLeadIntent(
            config={**DEFAULTS, **config},
            state=json.loads(json.dumps(store.state)),
            catalog=catalog,
            message_writer=store,  # type: ignore[arg-type]
        )
    for stream in tap.streams.values():
        stream.selected = stream.name in selected
    session = requests.Session()
    session.mount("https://", adapter or Adapter(api))
    try:
        # The model's hours pass in no time.
        with (
            mock.patch("tap_leadintent.api.retry.new_session", return_value=session),
            mock.patch("tap_leadintent.api.retry.time", Clock(api, clock_ahead)),
            mock.patch("tap_leadintent.api.retry.backoff", return_value=0.001),
        ):
            tap.sync_all()
    except KilledError:
        return False
    store.end()
    return True


def lead(number: int, found: float, *observed: float) -> Lead:
    """Make a lead that shows at once, and whose signal moves at once."""
    first, *later = observed or (found,)
    moved = [Version(time, time) for time in later]
    return Lead(f"lead-{number:04}", found, [Version(found, first), *moved])


def steady(count: int, seconds: float = HOUR) -> list[Lead]:
    return [lead(n, n * seconds) for n in range(count)]


def second(seconds: float) -> str:
    return iso(seconds).replace(".000", "")


def catalog(**entry: Any) -> dict[str, Any]:
    """Give the tap's own catalog with other words for `leads`."""
    whole = TapLeadIntent(config={}, validate_config=False).catalog_dict
    for stream in whole["streams"]:
        if stream["tap_stream_id"] == "leads":
            stream.update(entry)
    return whole
