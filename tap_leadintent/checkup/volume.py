"""Estimates what the runs of the tap take, from samples of what streams hold.

What a run takes is counted by playing it (`play.py`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import ceil
from statistics import median
from typing import NamedTuple

from tap_leadintent import times
from tap_leadintent.checkup import questions, ranges
from tap_leadintent.checkup.halving import Part, count_records
from tap_leadintent.checkup.play import Cost, History, play
from tap_leadintent.checkup.probe import Found, Probe, TooFewError, UnsettledError
from tap_leadintent.checkup.report import ESTIMATE, Finding, Report, Volume
from tap_leadintent.checkup.sampling import (
    Sample,
    take_samples,
    time_path,
    time_paths,
)
from tap_leadintent.checkup.wording import explain
from tap_leadintent.config.scope import scope_of
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.plan import next_readings
from tap_leadintent.replication.protocol import OVERLAP_SECONDS

_MOST_TIMES = 20_000
"""Records of a history that is played. In a larger one, each stands for several, and
pages are as much smaller."""

_MOST_WINDOWS = 500
"""Windows of a run that is played."""

_HOUR = 3_600


class Known(NamedTuple):
    """A history, as far as it is known."""

    history: History
    rows: float
    """How many records it has."""
    every: float = 1
    """For how many records one of the history stands."""
    factor: float = 1
    """How many pages one of the history stands for."""

    @property
    def page(self) -> float:
        """How many records a page of the API holds."""
        return self.history.page * self.every / self.factor


def estimate(report: Report, probes: Sequence[Probe]) -> None:
    """Estimate what streams take with the present settings.

    Args:
        report: Gets the estimate, as far as it is known.
        probes: The probes of the streams that can be read.
    """
    for probe, sample in take_samples(probes).items():
        try:
            report.estimate.append(_volume(probe, sample))
        except (StreamError, UnsettledError) as error:
            finding = _unknown(probe, explain(error))
            finding.lacks_records = isinstance(error, TooFewError)
            report.findings.append(finding)
    _add_totals(report, probes)


def _unknown(probe: Probe, reason: str) -> Finding:
    return Finding(
        group=ESTIMATE,
        question="What do runs take?",
        assumed="not known",
        about=probe.stream.name,
        verdict="unknown",
        answer=f"cannot be settled: {reason}",
    )


def _volume(probe: Probe, sample: Sample) -> Volume:
    """Return what a stream holds, and what reading it takes.

    Raises:
        UnsettledError: It is not known well enough.
    """
    if not probe.stream.is_incremental:
        return _list_volume(probe, sample)
    if probe.records:
        _raise_if_ignored(probe)
    known = _history(probe, sample)
    oldest = ""
    by_first = known.history.times[probe.ranges[0].range]
    if by_first:
        oldest = times.format_instant(by_first[0])[:7]
    runs = Runs(probe, known)
    first_load = runs.first_load()
    hourly = [*runs.hourly()]
    return Volume(
        stream=probe.stream.name,
        oldest=oldest,
        rows=round(known.rows),
        first_load=_whole(first_load),
        hourly_run=_whole(_average(hourly)),
        deepest_run=_whole(hourly[-1]),
        is_least=not sample.is_sure,
    )


def _raise_if_ignored(probe: Probe) -> None:
    for each in probe.ranges:
        if ranges.ignored_bounds(each):
            raise UnsettledError(f"{each.range} is not obeyed")


def _list_volume(probe: Probe, sample: Sample) -> Volume:
    """Return what a list takes, which each run reads completely."""
    pages = probe.pages(questions.LONG_LIST)
    rows = float(count_records(pages))
    requests = float(len(pages))
    if not sample.pages:
        listed = rows
        rows = _records(sample.part, listed)
        requests = ceil(requests * rows / listed)
    cost = _whole(Cost(requests, rows))
    return Volume(
        probe.stream.name,
        "",
        round(rows),
        cost,
        cost,
        cost,
    )


def _records(part: Part | None, least: float) -> float:
    """Return how many records a part holds; it is known to hold more than the least."""
    if part is None:
        pages = questions.LONG_LIST
        raise UnsettledError(f"its list has more than {pages} pages, and no range")
    records = part.records()
    if records < least:
        raise UnsettledError("its ranges return less than its list")
    return records


def _history(probe: Probe, sample: Sample) -> Known:
    """Return the history of a stream as its first range returns it.

    Raises:
        UnsettledError: It is not known.
    """
    history = History(
        times={},
        page=_full_page(probe),
        ignores_limit=_is_true(questions.obeys_limit, probe, "no"),
        promises_more=_is_true(questions.says_last_page, probe, "no"),
        unit=_unit(probe),
        cap=_cap(probe),
    )
    if sample.pages:
        listed = _listed_times(probe, sample)
        history.times = dict.fromkeys(probe.stream.ranges, listed)
        return Known(history, len(listed))
    part = sample.part
    if part is None and probe.api.left:
        raise UnsettledError("its time ranges are cut")
    if part is None or not part.is_resolved:
        raise UnsettledError("no requests are left; see --max-requests")
    is_least = not sample.is_sure
    rows = part.records(is_least=is_least)
    every = max(1.0, rows / _MOST_TIMES)
    records = part.times(
        time_paths(probe),
        every,
        is_least=is_least,
    )
    by_range = dict[str, list[int]]()
    for number, name in enumerate(probe.stream.ranges):
        by_range[name] = sorted(record[number] for record in records)
    history.times = by_range
    # Where records are thinned beyond the size of a page, pages stand for several.
    whole = history.page / every
    history.page = max(1, round(whole))
    return Known(
        history,
        rows,
        every,
        history.page / whole,
    )


def _listed_times(probe: Probe, sample: Sample) -> list[int]:
    """Return when the records of a list come that runs read, oldest first."""
    path = time_path(probe)
    found = list[int]()
    for page in sample.pages:
        for time in page.times(path):
            second = times.parse_instant(time)
            if second >= probe.stream.settings.start:
                found.append(second)
    found.sort()
    return found


def _is_true(
    question: Callable[[Probe], Found],
    probe: Probe,
    case: str,
) -> bool:
    """Return whether a question is answered by a case."""
    with suppress(StreamError, UnsettledError):
        return question(probe)[0] == case
    return False


def _unit(probe: Probe) -> int:
    """Return the seconds that time ranges are rounded to."""
    unit = 1
    # One range may show what another does not.
    for each in probe.ranges:
        with suppress(StreamError, UnsettledError):
            unit = max(unit, ranges.UNITS.get(ranges.rounded_to(each), 1))
    return unit


def _cap(probe: Probe) -> int:
    """Return after how many records the API ends each query; 0 for never."""
    with suppress(StreamError, UnsettledError):
        case, found = questions.is_list_complete(probe)
        if case == "capped":
            return int(found["records"])
    return 0


def _full_page(probe: Probe) -> int:
    """Return how many records a page of the API holds at most."""
    full = 0
    largest = 0
    for answer in probe.known:
        records = len(answer.keys)
        largest = max(largest, records)
        if answer.page.has_more:
            full = max(full, records)
    return full or max(largest, probe.api.limit)


class Runs:
    """Plays the runs of a stream over its history."""

    def __init__(
        self,
        probe: Probe,
        known: Known,
    ) -> None:
        """Play runs of the stream of a probe, over what is known of its history."""
        self.settings = probe.stream.settings
        self.now = probe.api.now
        self.scope = scope_of(self.settings, probe.stream.ranges)
        self.known = known
        self.widest = max(1, self.settings.window - OVERLAP_SECONDS)

    def first_load(self) -> Cost:
        """Return what a load of everything takes."""
        windows = (self.now - self.scope.start) / self.widest
        if windows <= _MOST_WINDOWS:
            return self._play(None)
        return self._by_windows(windows, self.known.rows)

    def hourly(self) -> Iterator[Cost]:
        """Yield what hourly runs take; each reads again what is as old as is due.

        Yields:
            The cost of the run that reads least, then the next one, up to the deepest.
        """
        planned = self.now - _HOUR
        readings = next_readings(planned, self.settings.lookback)
        depths = list[int]()
        for _, again in readings:
            if again >= 2 * _HOUR:
                depths.append(again)
        if not depths:
            depths = [readings[-1][1]] if readings else [0]
        for again in depths:
            windows = again / self.widest
            if windows <= _MOST_WINDOWS:
                yield self._play(planned - again)
            else:
                yield self._by_windows(windows, 0)

    def _play(self, covered_to: int | None) -> Cost:
        history = self.known.history
        page_size = self.settings.page_size / self.known.page * history.page
        cost = play(
            history,
            self.scope,
            self.now,
            page_size=max(1, round(page_size)),
            readers=self.settings.concurrency,
            widest=self.widest,
            covered_to=covered_to,
        )
        return Cost(
            cost.requests * self.known.factor,
            cost.records * self.known.every,
        )

    def _by_windows(
        self,
        windows: float,
        records: float,
    ) -> Cost:
        """Return the cost of reading by windows, if most of them take one request."""
        pages = records / min(self.known.page, self.settings.page_size)
        cost = Cost(windows + pages, records)
        return cost.times(len(self.scope.ranges_to_read))


def _average(costs: Sequence[Cost]) -> Cost:
    """Return the average cost of hourly runs.

    Every second run reads the least, every fourth the next more, and so on.
    """
    average = Cost()
    share = 1.0
    for cost in costs:
        if cost is not costs[-1]:
            share /= 2
        average = average.plus(cost.times(share))
    return average


def _whole(cost: Cost) -> Cost:
    return Cost(max(1, round(cost.requests)), round(cost.records))


def _seconds(probes: Sequence[Probe]) -> Iterator[float]:
    """Yield how long each page has taken."""
    for probe in probes:
        for answer in probe.known:
            yield answer.seconds


def _add_totals(report: Report, probes: Sequence[Probe]) -> None:
    """Add up the streams, and say how long they take."""
    settings = probes[0].stream.settings
    seconds = median(_seconds(probes))
    minutes = seconds / 60 / settings.concurrency
    if settings.max_requests_per_minute:
        minutes = max(minutes, 1 / settings.max_requests_per_minute)
    first_load = Cost()
    hourly_run = Cost()
    deepest_run = Cost()
    for volume in report.estimate:
        first_load = first_load.plus(volume.first_load)
        hourly_run = hourly_run.plus(volume.hourly_run)
        deepest_run = deepest_run.plus(volume.deepest_run)
    report.total = [first_load, hourly_run, deepest_run]
    report.minutes = [ceil(cost.requests * minutes) for cost in report.total]
