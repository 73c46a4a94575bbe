"""A model of the API for the leads stream: small, exact, and easy to disturb.

Time passes and records appear and change between its pages. `model_runs` brings the
tap's requests to it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

HOUR = 3600
DAY = 24 * HOUR


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
        return max(shown, default=None)


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
    at_each_signal: bool = False
    """Whether a lead is shown, with each signal, in the window that holds it."""
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
        """Tell which version of which lead the API shows now, the newest."""
        return {
            lead.id: version
            for lead in self.leads
            if (version := self._newest(lead, -math.inf, math.inf)) is not None
        }

    def _newest(self, lead: Lead, start: float, end: float) -> int | None:
        """Find the newest version of a lead with a signal between two instants."""
        if not self.at_each_signal:
            return lead.version(self.now)
        versions = enumerate(lead.versions)
        times = {n: v.observed_at for n, v in versions if v.shown_from <= self.now}
        inside = [n for n, time in times.items() if start <= time <= end]
        return max(inside, key=lambda n: (times[n], n), default=None)

    def respond(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Give the status and the content of an answer to a request, as of now."""
        if "after" in body["cursor"] and self.refuses_cursors:
            self.refuses_cursors -= 1
            return self.refuses_cursors_with, {"error": "this cursor has expired"}
        if self.refuses_the_past and '"1970-' in json.dumps(body):
            self.requests.append(body)
            return 400, {"error": "that was long ago"}
        if self._is_too_wide(body):
            self.refused.append(body)
            return self.refuses_wide_with, {"error": "at most a week"}
        if self.refuses_the_future and self._is_ahead(body):
            return 400, {"error": "end_time is in the future"}
        if len(self.requests) == self.forbidden_at:
            self.forbidden_at = None
            return 403, {"error": "not for you"}
        return 200, self._answer(body)

    def _answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Serve a page."""
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

    def _is_ahead(self, body: Mapping[str, Any]) -> bool:
        """Tell whether a request's range ends in the future."""
        ends = [body[name]["end_time"] for name in RANGES if name in body]
        return any(seconds_of(end) > self.now for end in ends)

    def _is_too_wide(self, body: Mapping[str, Any]) -> bool:
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
            span = (-math.inf, math.inf)
            if name == "latest_signal":
                asked = body[name]
                span = (
                    seconds_of(asked["start_time"]),
                    seconds_of(asked["end_time"]),
                )
            number = self._newest(lead, *span)
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


def lead(number: int, found: float, *observed: float) -> Lead:
    """Make a lead that shows at once, and whose signal moves at once."""
    first, *later = observed or (found,)
    moved = [Version(time, time) for time in later]
    return Lead(f"lead-{number:04}", found, [Version(found, first), *moved])


def steady(count: int, seconds: float = HOUR) -> list[Lead]:
    return [lead(n, n * seconds) for n in range(count)]


def second(seconds: float) -> str:
    return iso(seconds).replace(".000", "")
