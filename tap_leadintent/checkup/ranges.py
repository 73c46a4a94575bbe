"""Answers the questions about time ranges; see `questions.py`."""

from bisect import bisect
from contextlib import suppress
from functools import cache, partial

from tap_leadintent import times
from tap_leadintent.checkup.probe import DAY, Path, Probe, UnsettledError
from tap_leadintent.checkup.questions import Found, time_paths

Pin = tuple[str, int, Path]
_OLDEST = 3_650
"""Days that are old enough."""
_WHOLE = ".000000Z"


@cache  # It looks at each field of a page, and most questions need it.
def find_pin(probe: Probe) -> Pin | None:
    """Find a record that the range returns where its own time is, and a whole second.

    Returns:
        What identifies it, its time, and the path of that time; None if there is no
        such record.
    """
    page = probe.pages()[0]
    for path in time_paths(page):
        shown = zip(page.times(path), page.keys, strict=True)
        for at, key in [each for each in shown if each[0].endswith(_WHOLE)][:1]:
            second = times.parse_instant(at)
            near = probe.between(second - 1, second + 1)
            others = near.times(path) if near and key in near.keys else [""]
            if min(others) > times.format_instant(second - 2 * DAY):
                return key, second, path
    return None


def is_ignored(probe: Probe) -> bool:
    """Return whether the range returns records of next year."""
    later = probe.api.now + 365 * DAY
    return not find_pin(probe) and bool(probe.keys(later, later + 1))


def restricts(probe: Probe) -> Found:
    """Does the range restrict the records?"""
    return "ignored" if is_ignored(probe) else "yes", {}


def _pin(probe: Probe) -> Pin:
    if is_ignored(probe):
        raise UnsettledError
    if not (pin := find_pin(probe)):
        raise UnsettledError("no record shows its time there in whole seconds")
    return pin


def includes_ends(probe: Probe) -> Found:
    """Do the ends of a range belong to it?"""
    key, second, _ = _pin(probe)
    if key in probe.keys(second, second):
        return "both", {}
    start = key in probe.keys(second, second + 60)
    end = key in probe.keys(second - 60, second)
    return ["neither", "only_end", "only_start", "both"][2 * start + end], {}


def is_rounded(probe: Probe) -> Found:
    """Are the ends of a range rounded to minutes, hours or days?"""
    (key, second, _), rounded = _pin(probe), ""
    for name, unit in (("minutes", 60), ("hours", 3_600), ("days", DAY)):
        # A second of the same minute, hour or day, far from the record.
        inside = second % unit
        other = second - inside + (0 if inside >= unit / 2 else unit - 2)
        if key not in probe.keys(other, other + 1):
            break
        rounded = name
    return "yes" if rounded else "no", {"unit": rounded}


def _width(probe: Probe, days: int) -> Found:
    """Return what the API makes of a range that is so many days wide."""
    if is_ignored(probe):
        raise UnsettledError
    end, near = probe.api.now, [DAY, 15 * DAY, 182 * DAY]
    if pin := find_pin(probe):
        end, near = pin[1] + 1, [2]
    if not (wide := probe.between(end - days * DAY, end)):
        return "refused", {}
    # A range that is cut lacks what is near its end.
    late = (probe.keys(end - each, end) for each in near if each < days * DAY)
    if not (keys := next(filter(None, late), None)):
        raise UnsettledError("it returns too few records")
    if not keys.isdisjoint(wide.keys):
        return "yes", {}
    if wide.page.has_more:
        raise UnsettledError("it returns too many records")
    return "cut", {}


may_be_a_year_wide = partial(_width, days=365)


def may_be_30_days_wide(probe: Probe) -> Found:
    """May a range be as wide as a time window, and is it read completely?"""
    with suppress(UnsettledError):
        if _width(probe, 365)[0] == "yes":
            return "yes", {}
    case, _ = _width(probe, 30)
    if case == "yes":
        return case, {}
    return case, {"window_days": 7 if _width(probe, 7)[0] == "yes" else 1}


def may_end_in_the_future(probe: Probe) -> Found:
    """May a range end in the future?"""
    now = probe.api.now
    return "yes" if probe.between(now - DAY, now + DAY) else "no", {}


def earliest(probe: Probe) -> int:
    """Return the earliest instant that the API answers for, at most ten years ago."""
    days, now = _OLDEST, probe.api.now

    def is_refused(days: int) -> bool:
        start = now - days * DAY
        return probe.between(start, start + DAY) is None

    if is_refused(days):
        days = bisect(range(days), 0, key=is_refused) - 1
    return now - days * DAY


def reaches_back(probe: Probe) -> Found:
    """From when on does the API answer? The ranges of a stream likely reach as far."""
    instant = earliest(probe.ranges[0])
    date = times.format_instant(instant + DAY)[:10]
    is_late = times.parse_instant(probe.stream.config["start_date"]) >= instant
    case = "yes" if instant == probe.api.now - _OLDEST * DAY else "no"
    return case, {"date": date, "start_date": None if is_late else date}
