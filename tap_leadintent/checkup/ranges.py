"""Answers the questions about time ranges; see `questions.py`."""

from functools import partial

from tap_leadintent import times
from tap_leadintent.checkup.probe import DAY, Found, Probe, UnsettledError

_MONTH, _OLDEST = 30, 3_650
"""Days of a time window, and days that are old enough."""


def restricts(probe: Probe) -> Found:
    """Does the range restrict the records?"""
    start, _ = probe.sample
    if probe.is_ignored:
        return "ignored", {}
    late = set[str]() if probe.timed_pin else {*probe.keys(start, start + 1)}
    is_older = late and late & {*probe.keys(start - 30 * DAY, start - 2 * DAY)}
    return "start_ignored" if is_older else "yes", {}


def includes_ends(probe: Probe) -> Found:
    """Do the ends of a range belong to it?"""
    key, second, _, is_whole = probe.pin
    if not is_whole:
        raise UnsettledError("no record is known to lie at a whole second")
    start = key in probe.keys(second, second) or key in probe.keys(second, second + 60)
    end = key in probe.keys(second, second) or key in probe.keys(second - 60, second)
    return ["neither", "only_end", "only_start", "both"][2 * start + end], {}


def is_rounded(probe: Probe) -> Found:
    """Are the ends of a range rounded to minutes, hours or days?"""
    key, start, end, _ = probe.pin
    rounded = ""
    for name, unit in (("minutes", 60), ("hours", 3_600), ("days", DAY)):
        # The interval lies beside the record, in the same minute, hour or day.
        away = unit // 12 if start % unit < unit / 2 else -unit // 6 - (end - start)
        if unit > 4 * (end - start):
            if key not in probe.keys(end + away, end + away + unit // 12):
                break
            rounded = name
    return "yes" if rounded else "no", {"unit": rounded}


def _width(probe: Probe, days: int) -> str:
    """Return what the API makes of a range that is so many days wide."""
    key, start, end, _ = probe.pin
    pages = [probe.between(end + 1 - days * DAY, end + 1)]
    if days <= _MONTH or key not in (pages[0].keys if pages[0] else ()):
        pages += [probe.between(start - 1, start - 1 + days * DAY)]
    given = [page for page in pages if page]
    if any(key not in each.keys and not each.page.cursor.has_more for each in given):
        return "cut"
    if given and not any(key in page.keys for page in given):
        raise UnsettledError("it holds too many records")
    return "yes" if given else "refused"


def _is_wide(probe: Probe, days: int) -> Found:
    """May a range be so many days wide, and is it read completely?"""
    if (width := _width(probe, days)) == "yes" or (
        probe.stream.config["window_days"] < days
    ):
        return width, {"window_days": None}
    best = next((w for w in (30, 7) if _width(probe, w) == "yes"), 1)
    return width, {"window_days": best}


may_be_30_days_wide = partial(_is_wide, days=30)
may_be_a_year_wide = partial(_is_wide, days=365)


def may_end_in_the_future(probe: Probe) -> Found:
    """May a range end in the future?"""
    start = probe.pin.start - 1
    end = max(start + 30 * DAY, probe.api.now + DAY)
    return "yes" if probe.between(start, end) else "no", {}


def earliest(probe: Probe) -> int:
    """Return the earliest instant that the API answers for, at most ten years ago."""
    api, low, high = probe.api, 0, _OLDEST

    def is_accepted(days: int) -> bool:
        start = api.now - days * DAY
        return probe.between(start, start + DAY) is not None

    if is_accepted(high):
        return api.now - high * DAY
    # Other ranges likely reach back as far.
    if api.reach and is_accepted(api.reach):
        low, beyond = api.reach, api.reach + api.reach // 50 + 1
        high = high if is_accepted(beyond) else low + 1
    while high - low > 1 + low // 50:
        days = (low + high) // 2
        low, high = (days, high) if is_accepted(days) else (low, days)
    api.reach = low
    return api.now - low * DAY


def reaches_back(probe: Probe) -> Found:
    """From when on does the API answer?"""
    date = times.format_instant((instant := earliest(probe)) + DAY)[:10]
    is_late = times.parse_instant(probe.stream.config["start_date"]) >= instant
    case = "yes" if instant == probe.api.now - _OLDEST * DAY else "no"
    return case, {"date": date, "start_date": None if is_late else date}
