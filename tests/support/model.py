"""A model of the API for the leads stream: small, exact, and easy to disturb.

Time passes and records appear and change between its pages. `model_runs` brings the
tap's requests to it.
"""

import json
import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter

from tap_leadintent.streams.endpoints import STREAMS
from tests.support.helpers import Json

HOUR = 3600
DAY = 24 * HOUR

EPOCH = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
"""The second that the model's own times count from."""

RANGES = set[str]().union(*(stream.ranges for stream in STREAMS))

EVER = (-math.inf, math.inf)

Row = tuple[float, str, int, float]
"""Time, id, version and signal's time of a lead."""


def iso(seconds: float) -> str:
    """Write a time of the model."""
    instant = datetime.fromtimestamp(EPOCH + seconds, tz=UTC)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def second(seconds: float) -> str:
    """Write a time of the model as requests and states do."""
    return iso(seconds).replace(".000", "")


def seconds_of(text: str) -> float:
    """Read a time of the model."""
    return datetime.fromisoformat(text).timestamp() - EPOCH


def range_of(body: Json) -> tuple[str, float, float]:
    """Return the range that a request asks for: its name, which may be "", and ends."""
    name = next((name for name in RANGES if name in body), "")
    if not name:
        return "", *EVER
    start, end = map(seconds_of, body[name].values())
    return name, start, end


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


@dataclass
class Api:
    """The leads endpoint."""

    now: float = 0
    leads: list[Lead] = field(default_factory=list)
    seconds_to_query: float = 0
    """From when a request is sent until its query runs."""
    seconds_to_respond: float = 0
    """From the query until the response is ready, which is its `Date`."""
    seconds_per_request: float = 0
    """From then until the response arrives."""
    odd_clocks: dict[int, float] = field(default_factory=dict)
    """Seconds by which a machine's clock is ahead, by the number of the response."""
    holds_start: bool = True
    holds_end: bool = True
    newest_first: bool = True
    at_each_signal: bool = False
    """Whether a lead is shown, with each signal, in the window that holds it."""
    first_when_found: bool = False
    """Whether a lead is returned with its first signal under `date_found`."""
    ignores_start: bool = False
    """Whether any range shows all that is older than its end."""
    ignores_end: bool = False
    refuses_the_future: bool = False
    refuses_cursors: int = 0
    widest: float = math.inf
    """The most seconds that a range may ask for."""
    too_wide: int = 422
    """The status for a range that is wider."""
    broken: tuple[float, float] | None = None
    """Any range that touches this interval fails."""
    broken_with: int = 500
    """The status of that failure."""
    keeps_from: float = -math.inf
    """Ranges that begin earlier are refused."""
    hours_off: int = 0
    """By how much the times of records are off."""
    limit: float = math.inf
    """Pages that begin after so many records of a query are refused."""
    forbidden_at: int | None = None
    requests: list[Json] = field(default_factory=list)
    refused: list[Json] = field(default_factory=list)
    """Requests that failed because of their range."""
    found: int = 0
    """How many records the query of the latest response has."""
    _by_time: dict[bool, list[tuple[float, Lead]]] = field(default_factory=dict)
    """The leads by when they were found, and by the times of their signals."""
    _known: list[Lead] = field(default_factory=list)
    """The leads that `_by_time` is made of."""

    def version(
        self,
        lead: Lead,
        span: tuple[float, float] = EVER,
    ) -> int | None:
        """Return the version of a lead that is current, or the newest of a span."""
        start, end = span
        newest: int | None = None
        newest_time = -math.inf
        for number, version in enumerate(lead.versions):
            if version.shown_from > self.now:
                continue
            if not self.at_each_signal:
                newest = number
            elif start <= version.observed_at <= end and newest_time <= (
                version.observed_at
            ):
                newest = number
                newest_time = version.observed_at
        return newest

    def visible(self) -> dict[str, int]:
        """Return the newest version of each lead that the API returns now."""
        versions: dict[str, int] = {}
        for lead in self.leads:
            number = self.version(lead)
            if number is not None:
                versions[lead.id] = number
        return versions

    def found_before(self, end: float) -> set[str]:
        """Return the ids of the leads that were found before an instant."""
        return {lead.id for lead in self.leads if lead.found_at < end}

    def found_between(
        self,
        start: float,
        end: float,
    ) -> set[str]:
        """Return the ids of the leads that were found in an interval, ends included."""
        return {lead.id for lead in self.leads if start <= lead.found_at <= end}

    def respond(self, body: Json) -> tuple[int, Json]:
        """Return the status and the content of a response to a request, as of now."""
        name, start, end = range_of(body)
        if status := self._refusal(body, start, end):
            return status, {"error": "refused"}
        rows = self._rows(name, start, end, body)
        rows.sort(reverse=self.newest_first)
        count = len(rows)
        self.found = count
        cursor = body["cursor"].get("after")
        if cursor:
            mark = tuple(json.loads(cursor))
            if self.newest_first:
                rows = [row for row in rows if row[:2] < mark]
            else:
                rows = [row for row in rows if row[:2] > mark]
        if count - len(rows) >= self.limit:
            self.refused.append(body)
            return 400, {"error": "too many"}
        self.requests.append(body)
        limit = body["cursor"]["limit"]
        page = rows[:limit]
        later = rows[limit:]
        after = json.dumps(page[-1][:2]) if later else ""
        return self._answer(page, after)

    def _answer(
        self,
        rows: list[Row],
        after: str,
    ) -> tuple[int, Json]:
        data = [
            {
                "id": name,
                "version": number,
                "signal": {"observed_at": iso(observed + self.hours_off * HOUR)},
            }
            for _, name, number, observed in rows
        ]
        return 200, {
            "data": data,
            "cursor": {"next": after, "has_more": bool(after)},
        }

    def _refusal(
        self,
        body: Json,
        start: float,
        end: float,
    ) -> int | None:
        if "after" in body["cursor"] and self.refuses_cursors:
            self.refuses_cursors -= 1
            return 422
        status = None
        if self.widest < end - start < math.inf:
            status = self.too_wide
        elif -math.inf < start < self.keeps_from:
            status = 400
        elif self._is_broken_within(start, end):
            status = self.broken_with
        if status:
            self.refused.append(body)
            return status
        if self.refuses_the_future and self.now < end < math.inf:
            return 400
        if len(self.requests) == self.forbidden_at:
            self.forbidden_at = None
            return 401
        return None

    def _is_broken_within(
        self,
        start: float,
        end: float,
    ) -> bool:
        if self.broken is None:
            return False
        broken_from, broken_to = self.broken
        return start <= broken_to and broken_from <= end

    def _rows(
        self,
        name: str,
        start: float,
        end: float,
        body: Json,
    ) -> list[Row]:
        """Return the leads of a range."""
        rows = []
        by_found = name == "date_found"
        span = (start, end) if name == "latest_signal" else EVER
        signals = body.get("signals")
        for lead in self._near(start, end, by_found=by_found):
            number = self.version(lead, span)
            if number and self.first_when_found and by_found:
                number = 0
            if number is None:
                continue
            if signals is not None and lead.signal not in signals:
                continue
            observed = lead.versions[number].observed_at
            time = lead.found_at if by_found else observed
            is_before = time < start or (time == start and not self.holds_start)
            if is_before and not self.ignores_start:
                continue
            is_after = time > end or (time == end and not self.holds_end)
            if is_after and not self.ignores_end:
                continue
            rows.append((time, lead.id, number, observed))
        return rows

    def _near(
        self,
        start: float,
        end: float,
        *,
        by_found: bool,
    ) -> list[Lead]:
        """Return the leads that a range may hold, so that few are looked at."""
        if self.ignores_start:
            return self.leads
        if not self._by_time or self._known != self.leads:
            self._known = [*self.leads]
            found: list[tuple[float, Lead]] = []
            observed: list[tuple[float, Lead]] = []
            for one in self.leads:
                found.append((one.found_at, one))
                observed += [(each.observed_at, one) for each in one.versions]
            self._by_time = {True: found, False: observed}
            for times in self._by_time.values():
                times.sort(key=itemgetter(0))
        times = self._by_time[by_found]
        first = bisect_left(times, start, key=itemgetter(0))
        after = bisect_right(times, end, key=itemgetter(0))
        leads = {one.id: one for _, one in times[first:after]}
        return [*leads.values()]


def lead(
    number: int,
    found: float,
    *observed: float,
) -> Lead:
    """Make a lead that shows at once, and whose signal moves at once."""
    first, *later = observed or (found,)
    moved = [Version(time, time) for time in later]
    return Lead(
        id=f"lead-{number:04}",
        found_at=found,
        versions=[Version(found, first), *moved],
    )


def steady(count: int, seconds: float = HOUR) -> list[Lead]:
    return [lead(n, n * seconds) for n in range(count)]
