"""Estimates what a first load and an hourly run take, and suggests settings."""

from collections.abc import Sequence
from contextlib import suppress
from math import log2
from statistics import fmean, median

from tap_leadintent import times
from tap_leadintent.checkup import ranges
from tap_leadintent.checkup.probe import DAY, Path, Probe, UnsettledError
from tap_leadintent.checkup.questions import LONG_LIST, is_list_complete
from tap_leadintent.checkup.report import SET, Report, Volume, replication_command
from tap_leadintent.errors import StreamError

_DESCENTS, _GOLDEN = 24, 0.618034
"""Descents into a history, and by what part of it one lies after another, so that they
are spread evenly."""
_PROBES, _PARTLY_FULL = 8, 1.15
"""Requests with which the tap finds out how dense a history is, and how many pages it
reads for a full one."""
_LONG_LOAD, _LONG_LIST, _DEAR_RUN = 30, 1_000, 100
"""Minutes of a first load, records of a list, and requests of an hourly run that are
many."""
_MOST_READERS, _SHORT_LOOKBACK = 32, 7
"""The most and the least that is suggested for `concurrency` and `lookback_days`."""


def estimate(report: Report, probes: Sequence[Probe], *, has_start: bool) -> None:
    """Estimate what streams take with the present settings, and suggest others.

    Args:
        report: Gets the estimate, as far as it is known, and commands to paste.
        probes: The probes of the streams that can be read.
        has_start: Whether the user has set `start_date`.
    """
    rows = {probe: list[float]() for probe in probes}
    for number in range(_DESCENTS):
        # What was asked before costs nothing, so long histories get most requests.
        for probe, counts in rows.items():
            with suppress(StreamError, UnsettledError):
                counts.append(_rows(probe, number * _GOLDEN % 1))
    for probe in (probe for probe, counts in rows.items() if counts):
        with suppress(StreamError, UnsettledError):
            report.estimate.append(_volume(probe, fmean(rows[probe])))
    config = probes[0].stream.config
    seconds = median(each.seconds for probe in probes for each in probe.known)
    fastest = 1 / config.get("max_requests_per_minute", 1e9)
    minutes = max(seconds / 60 / config["concurrency"], fastest)
    first = sum(each.first_load for each in report.estimate)
    hourly = sum(each.hourly_run for each in report.estimate)
    report.total_requests = (first, hourly)
    report.total_minutes = (first * minutes, hourly * minutes)
    oldest = min((each.oldest for each in report.estimate if each.oldest), default="")
    if oldest and not has_start:
        report.commands.append(f"{SET} start_date {oldest}-01")
    if first * minutes > _LONG_LOAD and config["concurrency"] < _MOST_READERS:
        readers = min(_MOST_READERS, 2 * config["concurrency"])
        report.commands.append(f"{SET} concurrency {readers}")
    if hourly > _DEAR_RUN and config["lookback_days"] > _SHORT_LOOKBACK:
        report.commands.append(f"{SET} lookback_days {_SHORT_LOOKBACK}")
    lists = {p.stream.name for p in probes if p.ranges and not p.stream.is_incremental}
    report.commands += [
        replication_command(each.stream, "INCREMENTAL")
        for each in report.estimate
        if each.stream in lists and each.rows > _LONG_LIST
    ]


def _rows(probe: Probe, place: float) -> float:
    """Estimate how many records a first load gets; see `_descend`."""
    pages, start = probe.pages(LONG_LIST), _start(probe)
    if not pages[-1].page.has_more and _is_complete(probe):
        path, since = _path(probe), times.format_instant(start)
        at = (each for page in pages for each in page.times(path))
        return sum(not each or each >= since for each in at)
    # Otherwise, a page of a range that is cut would be taken for all of it.
    if not probe.ranges or not _is_usable(probe.ranges[0]):
        raise UnsettledError
    return _descend(probe.ranges[0], start, probe.api.now, place)


def _is_complete(probe: Probe) -> bool:
    """Return whether the list has all that a first load gets."""
    if not probe.stream.is_incremental:
        return True
    return not probe.list_fields and is_list_complete(probe)[0] == "yes"


def _is_usable(probe: Probe) -> bool:
    """Return whether the range returns all that it is asked for, and no more."""
    with suppress(UnsettledError):
        return ranges.may_be_a_year_wide(probe)[0] != "cut"
    return not ranges.is_ignored(probe)


def _path(probe: Probe) -> Path:
    """Return the path of a time that a range is about; empty if there is none."""
    pins = map(ranges.find_pin, probe.ranges[::-1])
    return next((path for _, _, path in filter(None, pins)), ())


def _start(probe: Probe) -> int:
    if not probe.stream.is_incremental:
        return 0
    start = times.parse_instant(probe.stream.config["start_date"])
    return max(ranges.earliest(probe.ranges[0]), start)


def _volume(probe: Probe, rows: float) -> Volume:
    stream, config, now = probe.stream, probe.stream.config, probe.api.now
    at = (times.time_at(_path(probe), each) for each in probe.records.values())
    oldest = min(filter(None, at), default="")
    first = hourly = rows / config["page_size"]
    if stream.is_incremental:
        start = _start(probe)
        span = now - max(start, times.parse_instant(oldest) if oldest else start)
        # A time is read again whenever its age has about doubled.
        readings = 1 + log2(max(1.0, 24 * config["lookback_days"]))
        hourly = readings * hourly * 3_600 / max(span, DAY) + 0.5
        windows = (now - start) / DAY / config["window_days"]
        first = _PROBES + windows + _PARTLY_FULL * first
    count = len(probe.ranges) if stream.is_incremental else 1
    requests = [count * max(1, each) for each in (first, hourly)]
    seconds = median(answer.seconds for answer in probe.known)
    return Volume(stream.name, oldest[:7], round(rows), seconds, *requests)


def _descend(probe: Probe, start: int, end: int, place: float) -> float:
    """Estimate how many records an interval holds.

    It is halved until one page holds a part completely. Where both halves hold more,
    one of them stands for both: the first if the place, from 0 to 1, is in its half.
    """
    page = probe.between(start, end)
    if end - start <= 1 or (page and not page.page.has_more):
        return len(page.keys) if page else 0
    middle = (start + end) // 2
    halves, rows = [(start, middle), (middle, end)], 0.0
    for each in tuple(halves):
        if (page := probe.between(*each)) and not page.page.has_more:
            rows += len(page.keys)
            halves.remove(each)
    if halves:
        number, place = divmod(place * len(halves), 1)
        rows += len(halves) * _descend(probe, *halves[int(number)], place)
    return rows
