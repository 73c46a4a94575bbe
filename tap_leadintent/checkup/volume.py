"""Estimates what a first load and an hourly run take, and suggests settings."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import ceil, log2
from random import Random
from statistics import median
from typing import Any, NamedTuple

from tap_leadintent import times
from tap_leadintent.checkup.probe import DAY, PAGE, Answer, Probe, UnsettledError
from tap_leadintent.checkup.questions import is_short
from tap_leadintent.checkup.ranges import earliest
from tap_leadintent.errors import StreamError, replication_command

_LISTED_PAGES = 7
"""Pages that are read to count the records of a short list."""
_TILES, _DESCENTS = 8, 20
"""Parts of a history in which its records are counted first, and requests that are kept
to estimate what is not counted."""
_PROBES, _PARTLY_FULL = 8, 1.15
"""Requests with which the tap finds out how dense a history is, and how many pages it
reads for a full one."""
_LONG_LOAD, _LONG_LIST, _DEAR_RUN = 30, 1_000, 100
"""Minutes of a first load, records of a list, and requests of an hourly run that are
many."""


class Volume(NamedTuple):
    """What a stream holds, and what reading it takes."""

    stream: str
    oldest: str
    """The month of its oldest record, if that is known."""
    rows: int
    seconds: float
    """How long a page takes."""
    first_load: float
    """Requests of a first load."""
    hourly_run: float
    """Requests of an hourly run."""


def estimate(probes: Iterable[Probe]) -> list[Volume]:
    """Estimate what streams take with the present settings, as far as it is known."""
    volumes = []
    # Short lists cost little, so the others share what is left.
    probes = sorted(probes, key=lambda probe: _list(probe)[-1].page.cursor.has_more)
    for number, probe in enumerate(probes):
        with suppress(StreamError, UnsettledError):
            most = probe.api.left // (len(probes) - number)
            volumes.append(_volume(probe, most))
    return volumes


def _list(probe: Probe) -> list[Answer]:
    """Return the pages of a list, and a few of one that is likely long."""
    try:
        is_long = any(r.sample[1].page.cursor.has_more for r in probe.ranges[:1])
        return probe.pages(_LISTED_PAGES // 2 + 1 if is_long else _LISTED_PAGES)
    except (StreamError, UnsettledError):
        return probe.pages()


def _volume(probe: Probe, most: int) -> Volume:
    config, now = probe.stream.config, probe.api.now
    seconds = median(answer.seconds for answer in probe.known)
    is_incremental = probe.stream.is_incremental
    start = times.parse_instant(config["start_date"]) if is_incremental else 0
    for in_range in probe.ranges[:1]:
        start = max(start, earliest(in_range))
        if in_range.is_ignored:
            raise UnsettledError
    rows, oldest = _count(probe, start, most)
    month = times.format_instant(oldest)[:7] if oldest else ""
    pages = rows / config["page_size"]
    if not is_incremental:
        return Volume(probe.stream.name, month, rows, seconds, *[ceil(pages) or 1] * 2)
    begin, recent = probe.ranges[0].sample
    windows = (now - start) / DAY / config["window_days"]
    span = now - start if recent.page.cursor.has_more else now - begin
    rate = (rows if recent.page.cursor.has_more else len(recent.keys)) / span * 3_600
    # A time is read again whenever its age has about doubled.
    rate *= 1 + log2(max(1.0, 24 * config.get("lookback_days", 30)))
    first = _PROBES + ceil(windows) + _PARTLY_FULL * pages
    hourly = max(1.0, rate / config["page_size"] + 0.5)
    ranges = len(probe.ranges)
    return Volume(
        probe.stream.name, month, rows, seconds, ranges * first, ranges * hourly
    )


def _count(probe: Probe, start: int, most: int) -> tuple[int, int | None]:
    """Return how many records a stream holds, and when the oldest is from."""
    pages, in_range = _list(probe), next(iter(probe.ranges), None)
    is_all = not pages[-1].page.cursor.has_more and not probe.list_fields
    if is_all and not (in_range and is_short(probe, _LISTED_PAGES)):
        documented = next(iter(probe.stream.time_fields.values()), None)
        path = (in_range.path if in_range else None) or documented
        found = sorted(at for each in pages for at in each.times(path) if at)
        late = [at for at in found if at >= times.format_instant(start)]
        rows = len(late) if found else sum(len(each.keys) for each in pages)
        return rows, times.parse_instant(found[0]) if found else None
    if not in_range:
        raise UnsettledError
    return _sample(in_range, start, most)


def _sample(probe: Probe, start: int, most: int) -> tuple[int, int | None]:
    """Count the records of an interval by halves, and estimate what is left."""
    now, rows, oldest = probe.api.now, 0.0, probe.api.now
    step = (now - start) // _TILES
    queue = [(now - n * step, now - n * step + step) for n in range(_TILES, 0, -1)]
    enough = probe.api.sent + most - _DESCENTS
    while queue and probe.api.sent < enough:
        begin, end = queue.pop(0)
        if (page := _all_of(probe, begin, end)) is None:
            queue += [(begin, (begin + end) // 2), ((begin + end) // 2, end)]
        elif page.keys:
            rows, oldest = rows + len(page.keys), min(oldest, begin)
    queue.sort()
    weighed = seconds = 0
    for begin, end in sorted({queue[n * len(queue) // 6] for n in (3, 1, 5) if queue}):
        weighed += _descend(probe, begin, end)
        seconds += end - begin
    rows += sum(end - begin for begin, end in queue) / (seconds or 1) * weighed
    return round(rows), None if queue else oldest


def _all_of(probe: Probe, begin: int, end: int) -> Answer | None:
    """Return the page of an interval, None if there are more."""
    if (page := probe.between(begin, end)) is None:
        raise UnsettledError
    return None if page.page.cursor.has_more and end - begin > 1 else page


def _descend(probe: Probe, begin: int, end: int) -> int:
    """Estimate the records of an interval that one page does not hold.

    Where both halves hold more than a page, one of them is chosen at random.
    """
    random, factor, rows = Random(begin), 1, 0  # noqa: S311 - nothing secret
    parts = [(begin, end)]
    while parts:
        try:
            pages = [_all_of(probe, *part) for part in parts]
        except UnsettledError:
            return rows + factor * PAGE
        rows += factor * sum(len(page.keys) for page in pages if page)
        dense = [part for part, page in zip(parts, pages, strict=True) if not page]
        factor *= len(dense)
        parts = []
        for low, high in random.sample(dense, min(1, len(dense))):
            parts = [(low, (low + high) // 2), ((low + high) // 2, high)]
    return rows


def totals(volumes: Sequence[Volume]) -> tuple[float, float]:
    """Return how many requests a first load and an hourly run take."""
    return sum(v.first_load for v in volumes), sum(v.hourly_run for v in volumes)


def minutes(probes: Sequence[Probe], requests: float) -> float:
    """Return how many minutes some requests take with the present settings."""
    config = probes[0].stream.config
    seconds = median(each.seconds for probe in probes for each in probe.known)
    fastest = 1 / config.get("max_requests_per_minute", 1e9)
    each = max(seconds / 60 / config["concurrency"], fastest)
    return float(round(requests * each, 1))


def suggest(
    given: Mapping[str, Any],
    probes: Sequence[Probe],
    volumes: Sequence[Volume],
    values: Iterable[Mapping[str, Any]],
) -> list[str]:
    """Suggest settings, as commands that are ready to paste.

    Args:
        given: The settings that the user has set.
        probes: The probes of the streams that can be read.
        volumes: The estimates.
        values: The values of the findings.
    """
    config, settings = probes[0].stream.config, dict[str, Any]()
    first, hourly = totals(volumes)
    incremental = {p.stream.name for p in probes if p.stream.is_incremental}
    months = [each.oldest for each in volumes if each.stream in incremental]
    if "start_date" not in given and months and all(months):
        settings["start_date"] = f"{min(months)}-01"
    for name, worst in (("start_date", max), ("page_size", min), ("window_days", min)):
        if several := [each[name] for each in values if each.get(name)]:
            settings[name] = worst(several)
    if any(each.status_code == 429 for each, _ in probes[0].api.heard):  # noqa: PLR2004
        settings["concurrency"] = max(1, config["concurrency"] // 2)
    elif minutes(probes, first) > _LONG_LOAD:
        settings["concurrency"] = min(32, 2 * config["concurrency"])
    if hourly > _DEAR_RUN:
        settings["lookback_days"] = 7
    changed = {n: value for n, value in settings.items() if config.get(n) != value}
    long_lists = {each.stream for each in volumes if each.rows > _LONG_LIST}
    return [
        *(f"meltano config set tap-leadintent {n} {v}" for n, v in changed.items()),
        *(
            replication_command(probe.stream.name, "INCREMENTAL")
            for probe in probes
            if probe.ranges and not probe.stream.is_incremental
            if probe.stream.name in long_lists
        ),
    ]
