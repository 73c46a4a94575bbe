"""Answers the questions about time ranges; see `questions.py`."""

from contextlib import suppress
from functools import partial

from tap_leadintent import times
from tap_leadintent.checkup.probe import DAY, Path, Probe, UnsettledError
from tap_leadintent.checkup.questions import Found

_OLDEST = 3_650
"""Days that are old enough."""


def restricts(probe: Probe) -> Found:
    """Does the range restrict the records?"""
    return "ignored" if probe.is_ignored else "yes", {}


def _pin(probe: Probe) -> tuple[str, int, Path]:
    if probe.is_ignored:
        raise UnsettledError
    if not probe.pin:
        raise UnsettledError("no record shows its time there in whole seconds")
    return probe.pin


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
    start, end = probe.anchor
    if start < end - days * DAY / 2:
        raise UnsettledError("it returns too few records")
    near, wide = probe.keys(start, end), probe.between(end - days * DAY, end)
    if not wide:
        return "refused", {}
    if not near.isdisjoint(wide.keys):
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

    def is_accepted(days: int) -> bool:
        start = probe.api.now - days * DAY
        return probe.between(start, start + DAY) is not None

    low, high = (_OLDEST, _OLDEST) if is_accepted(_OLDEST) else (0, _OLDEST)
    while high - low > 1 + low // 50:
        days = (low + high) // 2
        low, high = (days, high) if is_accepted(days) else (low, days)
    return probe.api.now - low * DAY


def reaches_back(probe: Probe) -> Found:
    """From when on does the API answer? The ranges of a stream likely reach as far."""
    instant = earliest(probe.ranges[0])
    date = times.format_instant(instant + DAY)[:10]
    is_late = times.parse_instant(probe.stream.config["start_date"]) >= instant
    case = "yes" if instant == probe.api.now - _OLDEST * DAY else "no"
    return case, {"date": date, "start_date": None if is_late else date}
