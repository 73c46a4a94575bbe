"""Estimates what the runs of the tap take, and suggests settings.

How a long history is spread is found by halving it; what a run over it takes is counted
by playing the run (`play.py`).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from statistics import median
from typing import NamedTuple

from tap_leadintent import times
from tap_leadintent.checkup import questions, ranges
from tap_leadintent.checkup.play import Cost, History, play
from tap_leadintent.checkup.probe import DAY, PAGE, Answer, Path, Probe, UnsettledError
from tap_leadintent.checkup.report import (
    SET,
    Finding,
    Report,
    Volume,
    replication_command,
)
from tap_leadintent.config.scope import scope_of
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.plan import next_readings
from tap_leadintent.replication.protocol import OVERLAP_SECONDS

_DESCENTS = 24
"""Descents into a history."""

_GOLDEN = 0.618034
"""By what part of the history one descent lies after another, so that they are spread
evenly."""

_MOST_TIMES = 20_000
"""Records of a history that is played. In a larger one, each stands for several, and
pages are as much smaller."""

_MOST_WINDOWS = 2_000
"""Windows of a run that is played."""

_HOUR = 3_600

_MOST_REQUESTS = 10_000
"""Requests of a first load that need no thought."""

_LONG_LOAD = 30
"""Minutes of a first load that are many."""

_LONG_LIST = 1_000
"""Records of a list that are many."""

_DEAR_RUN = 100
"""Requests of an hourly run that are many."""

_MOST_READERS = 32
"""The most that is suggested for `concurrency`."""

_SHORT_LOOKBACK = 7
"""The least that is suggested for `lookback_days`."""


@dataclass
class Part:
    """A part of a history, which is halved until a page holds all of it."""

    probe: Probe
    start: int
    end: int
    page: Answer | None = None
    """The first page of it; None if the API refuses it, or if it was not asked for."""
    halves: list["Part"] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        """Whether a page holds all of it."""
        is_second = self.end - self.start <= 1
        return is_second or (self.page is not None and not self.page.page.has_more)

    def look(self) -> None:
        """Ask for its first page."""
        self.page = self.probe.between(self.start, self.end)

    def descend(self, place: float) -> None:
        """Halve it until a page holds a part.

        Where both halves hold more than a page, one of them is halved on: the first if
        the place, from 0 to 1, is in its half.
        """
        if self.is_known:
            return
        if not self.halves:
            self.halve((self.start + self.end) // 2)
        unknown = [half for half in self.halves if not half.is_known]
        if unknown:
            number, place = divmod(place * len(unknown), 1)
            unknown[int(number)].descend(place)

    def halve(self, middle: int) -> None:
        """Ask for the first pages of what lies before an instant, and after it."""
        halves = [
            Part(self.probe, self.start, middle),
            Part(self.probe, middle, self.end),
        ]
        for half in halves:
            half.look()
        self.halves = halves

    def records(self) -> float:
        """Estimate how many records it holds.

        A half that was not halved on is taken to be like the other one.
        """
        if self.is_known:
            return len(self.page.keys) if self.page else 0
        total = 0.0
        for half in self.halves:
            total += self._like(half).records()
        if total:
            return total
        return 2 * len(self.page.keys) if self.page else 0

    def _like(self, half: "Part") -> "Part":
        """Return a half, or the other one if that is known better."""
        if half.is_known or half.halves:
            return half
        for other in self.halves:
            if other.halves:
                return other
        return half

    def times(self, path: Path, every: float) -> list[int]:
        """Return when its records come, each of which stands for several.

        Args:
            path: Where records show their times; empty if they do not.
            every: For how many records one stands.
        """
        if not self.is_known and self.halves:
            found = list[int]()
            for half in self.halves:
                like = self._like(half)
                moved = half.start - like.start
                found += [time + moved for time in like.times(path, every)]
            return found
        records = self.records() / every
        # Where a part of a record is left, its place decides.
        count = int(records)
        count += (self.start % 997) / 997 < records - count
        shown = self._shown(path)
        found = list[int]()
        for number in range(count):
            share = (number + 0.5) / count
            if shown:
                found.append(shown[int(share * len(shown))])
            else:
                found.append(self.start + int(share * (self.end - self.start)))
        return found

    def _shown(self, path: Path) -> list[int]:
        """Return the times that its records show, if all lie within it."""
        if not (path and self.page):
            return []
        found = list[int]()
        for time in self.page.times(path):
            if not time:
                return []
            second = times.parse_instant(time)
            if not self.start <= second <= self.end:
                return []
            found.append(second)
        return sorted(found)


class Estimated(NamedTuple):
    """A history, as far as it is known."""

    history: History
    rows: float
    """How many records it has."""
    every: float
    """For how many records one of the history stands."""
    factor: float
    """How many pages one of the history stands for."""


def estimate(report: Report, probes: Sequence[Probe], *, has_start: bool) -> None:
    """Estimate what streams take with the present settings, and suggest others.

    Args:
        report: Gets the estimate, as far as it is known, and commands to paste.
        probes: The probes of the streams that can be read.
        has_start: Whether the user has set `start_date`.
    """
    parts = _descend_all(probes)
    for probe in probes:
        try:
            report.estimate.append(_volume(probe, parts.get(probe)))
        except (StreamError, UnsettledError) as error:
            reason = questions.explain(error)
            if reason:
                report.findings.append(_unknown(probe, reason))
    _add_totals(report, probes)
    _suggest(report, probes, has_start=has_start)


def _unknown(probe: Probe, reason: str) -> Finding:
    return Finding(
        group="Estimate",
        question="What do runs take?",
        assumed="not known",
        about=probe.stream.name,
        verdict="unknown",
        answer=f"cannot be settled: {reason}",
    )


def _descend_all(probes: Sequence[Probe]) -> dict[Probe, Part]:
    """Halve the histories of the streams that are too long to be listed.

    The streams take turns, so that each gets as many of the requests.
    """
    parts = dict[Probe, Part]()
    for number in range(_DESCENTS):
        for probe in probes:
            with suppress(StreamError, UnsettledError):
                if probe not in parts and not _needs_halving(probe):
                    continue
                if probe not in parts:
                    part = Part(probe.ranges[0], _start(probe), probe.api.now)
                    part.look()
                    parts[probe] = part
                parts[probe].descend(number * _GOLDEN % 1)
    return parts


def _needs_halving(probe: Probe) -> bool:
    """Return whether a history is to be found out by its first time range."""
    if not probe.ranges:
        return False
    if not _is_listed(probe):
        return _is_usable(probe.ranges[0])
    return False


def _is_listed(probe: Probe) -> bool:
    """Return whether the list has all records, with their times if a run needs them."""
    pages = probe.pages(questions.LONG_LIST)
    if pages[-1].page.has_more:
        return False
    if not probe.stream.is_incremental:
        return True
    if probe.list_fields or not _path(probe):
        return False
    return questions.is_list_complete(probe)[0] == "yes"


def _is_usable(probe: Probe) -> bool:
    """Return whether the range returns all that it is asked for, and no more."""
    if ranges.ignored_bounds(probe):
        return False
    with suppress(UnsettledError):
        return ranges.may_be_a_year_wide(probe)[0] != "cut"
    return True


def _path(probe: Probe) -> Path:
    """Return the path of the time that the first range is about, if records show it."""
    with suppress(UnsettledError):
        return ranges.find_anchor(probe.ranges[0]).path
    return ()


def _start(probe: Probe) -> int:
    if not probe.stream.is_incremental:
        return 0
    earliest = ranges.earliest(probe.ranges[0])
    return max(earliest, probe.stream.settings.start)


def _volume(probe: Probe, part: Part | None) -> Volume:
    """Return what a stream holds, and what reading it takes.

    Raises:
        UnsettledError: It is not known well enough.
    """
    seconds = median(answer.seconds for answer in probe.known)
    if not probe.stream.is_incremental:
        return _list_volume(probe, part, seconds)
    for each in probe.ranges:
        if ranges.ignored_bounds(each):
            raise UnsettledError(f"{each.range} is not obeyed")
    known = _history(probe, part)
    oldest = ""
    if known.history.times:
        oldest = times.format_instant(known.history.times[0])[:7]
    first, hourly, deepest = _play_runs(probe, known)
    return Volume(
        probe.stream.name, oldest, round(known.rows), seconds, first, hourly, deepest
    )


def _list_volume(probe: Probe, part: Part | None, seconds: float) -> Volume:
    """Return what a list takes, which each run reads completely."""
    pages = probe.pages(questions.LONG_LIST)
    rows = float(sum(len(page.keys) for page in pages))
    requests = float(len(pages))
    if pages[-1].page.has_more:
        listed = rows
        rows = _records(part, listed)
        requests = ceil(requests * rows / listed)
    cost = _whole(Cost(requests, rows))
    return Volume(probe.stream.name, "", round(rows), seconds, cost, cost, cost)


def _records(part: Part | None, least: float) -> float:
    """Return how many records a part holds; it is known to hold more than the least."""
    if part is None:
        pages = questions.LONG_LIST
        raise UnsettledError(f"its list has more than {pages} pages, and no range")
    records = part.records()
    if records < least:
        raise UnsettledError("its ranges return less than its list")
    return records


def _history(probe: Probe, part: Part | None) -> Estimated:
    """Return the history of a stream as its first range returns it."""
    unit = ranges.UNITS.get(_rounded(probe), 1)
    page = _full_page(probe)
    start = probe.stream.settings.start
    if part is None:
        if not _is_listed(probe):
            raise UnsettledError("its time ranges are cut, or no requests are left")
        path = _path(probe)
        found = list[int]()
        for each in probe.pages(questions.LONG_LIST):
            for time in each.times(path):
                second = times.parse_instant(time)
                if second >= start:
                    found.append(second)
        found.sort()
        return Estimated(History(found, page, unit), len(found), 1, 1)
    if not (part.is_known or part.halves):
        raise UnsettledError("no requests are left; see --max-requests")
    rows = part.records()
    every = max(1.0, rows / _MOST_TIMES)
    found = sorted(part.times(_path(probe), every))
    thin = max(1, round(page / every))
    factor = page / every / thin
    # Where records are thinned beyond the size of a page, pages stand for several.
    return Estimated(History(found, thin, unit), rows, every, 1 / factor)


def _rounded(probe: Probe) -> str:
    with suppress(StreamError, UnsettledError):
        return ranges.rounded_to(probe.ranges[0])
    return ""


def _full_page(probe: Probe) -> int:
    """Return how many records a full page of a run holds."""
    asked = probe.stream.settings.page_size
    longest = 0
    for answer in probe.known:
        if answer.page.has_more or len(answer.keys) > answer.limit:
            longest = max(longest, len(answer.keys))
    if longest > PAGE:
        return longest
    return min(asked, longest) if longest else asked


def _play_runs(probe: Probe, known: Estimated) -> tuple[Cost, Cost, Cost]:
    """Return what a first load, an hourly run and the deepest run take.

    How much an hourly run reads again depends on the time. Every second run reads the
    least, every fourth the next more, and so on.
    """
    settings = probe.stream.settings
    scope = scope_of(settings, probe.stream.ranges)
    now = probe.api.now

    widest = max(1, settings.window - OVERLAP_SECONDS)

    def run(covered_to: int | None) -> Cost:
        start = scope.start if covered_to is None else covered_to
        windows = (now - start) / widest
        if windows > _MOST_WINDOWS:
            # Nearly all of its requests are one for each window.
            records = known.rows if covered_to is None else 0
            one = Cost(windows + records / known.history.page, records)
            return one.times(len(scope.ranges_to_read))
        cost = play(
            known.history,
            scope,
            now,
            readers=settings.concurrency,
            widest=widest,
            covered_to=covered_to,
        )
        return Cost(cost.requests * known.factor, cost.records * known.every)

    first = run(None)
    planned = now - _HOUR
    readings = next_readings(planned, settings.lookback)
    depths = [again for _, again in readings if again >= 2 * _HOUR]
    if not depths:
        depths = [readings[-1][1]] if readings else [0]
    hourly = Cost()
    share = 1.0
    cost = Cost()
    for again in depths:
        cost = run(planned - again)
        if again != depths[-1]:
            share /= 2
        hourly = hourly.plus(cost.times(share))
    return _whole(first), _whole(hourly), _whole(cost)


def _whole(cost: Cost) -> Cost:
    return Cost(max(1, round(cost.requests)), round(cost.records))


def _add_totals(report: Report, probes: Sequence[Probe]) -> None:
    """Add up the streams, and say how long they take."""
    settings = probes[0].stream.settings
    seconds = median(each.seconds for probe in probes for each in probe.known)
    minutes = seconds / 60 / settings.concurrency
    if settings.max_requests_per_minute:
        minutes = max(minutes, 1 / settings.max_requests_per_minute)
    total = [Cost(), Cost(), Cost()]
    for volume in report.estimate:
        costs = (volume.first_load, volume.hourly_run, volume.deepest_run)
        total = [old.plus(new) for old, new in zip(total, costs, strict=True)]
    report.total = total
    report.minutes = [ceil(each.requests * minutes) for each in total]
    if total[0].requests > _MOST_REQUESTS:
        report.findings.append(
            Finding(
                group="Estimate",
                question="Is a first load cheap?",
                assumed="yes",
                about="",
                verdict="differs",
                answer=f"no, it takes more than {_MOST_REQUESTS:,} requests",
                action="set a later start_date, a longer window_days, or "
                "max_requests_per_run to spread it over several runs",
            )
        )


def _suggest(report: Report, probes: Sequence[Probe], *, has_start: bool) -> None:
    """Suggest settings for what takes long."""
    if not report.estimate:
        return
    settings = probes[0].stream.settings
    oldest = min((each.oldest for each in report.estimate if each.oldest), default="")
    if oldest and not has_start:
        report.commands.append(f"{SET} start_date {oldest}-01")
    readers = settings.concurrency
    if report.minutes[0] > _LONG_LOAD and readers < _MOST_READERS:
        readers = min(_MOST_READERS, 2 * readers)
        report.commands.append(f"{SET} concurrency {readers}")
    is_dear = report.total[1].requests > _DEAR_RUN
    if is_dear and settings.lookback > _SHORT_LOOKBACK * DAY:
        report.commands.append(f"{SET} lookback_days {_SHORT_LOOKBACK}")
    streams = {probe.stream.name: probe.stream for probe in probes}
    for volume in report.estimate:
        stream = streams[volume.stream]
        is_list = stream.ranges and not stream.is_incremental
        if is_list and volume.rows > _LONG_LIST:
            report.commands.append(replication_command(stream.name, "INCREMENTAL"))
