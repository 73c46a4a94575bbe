"""Answers the questions about time ranges; see `questions.py`.

Each answer needs to know where a record lies (its anchor), and that the range obeys its
bounds. Otherwise, a record would be on a page by chance.
"""

from bisect import bisect
from contextlib import suppress
from functools import cache, partial
from typing import NamedTuple

from tap_leadintent import times
from tap_leadintent.checkup.probe import (
    DAY,
    Answer,
    Found,
    Path,
    Probe,
    TooFewError,
    UnsettledError,
)

_OLDEST = 3_650
"""Days that are old enough."""

_LONG_AGO = 631_152_000
"""The year 1990, from which no record can be."""

_NEAR = (1, 7, 30, 365)
"""Days before now in which a record is looked for that does not show its time."""

UNITS = {
    "minutes": 60,
    "hours": 3_600,
    "days": DAY,
}

_MONTH = 30 * DAY

_YEAR = 365 * DAY

_WINDOWS = (30, 7, 1)
"""Days of a window that are tried if the API takes no wider one."""

_WHOLE = ".000000Z"

_MOST_PAGES = 12
"""Pages in which a record at the end of a range is looked for."""

_OVERLAP = 3
"""Seconds between two that a range of one of them cannot hold both."""

_MINUTE = 60

_LENGTHS = {
    "an hour": 3_600,
    "a day": DAY,
    "a week": 7 * DAY,
    "a month": _MONTH,
}
"""Ranges that are tried if the API refuses a minute."""

_NO_RECORD = "no record was found by it"


class Anchor(NamedTuple):
    """A record that a range returns, and where it lies."""

    key: str
    """What identifies it."""

    start: int
    """It does not lie before this instant, in UTC seconds since 1970."""

    end: int
    """It does not lie after this one."""

    path: Path
    """Where its time is; empty if it does not show it."""


@cache
def find_anchor(probe: Probe) -> Anchor:
    """Find the first record of the list that the range returns near its own time.

    As the first one, it is on the first page of any range in the same order.

    Raises:
        TooFewError: The range returns no record at all.
    """
    page = probe.pages()[0]
    declared = probe.stream.time_fields.get(probe.range)
    for path in page.time_paths or filter(None, [declared]):
        anchor = _anchor_by(
            probe,
            page,
            path,
        )
        if anchor:
            return anchor
    now = probe.api.now
    for days in _NEAR:
        start = now - days * DAY
        found = probe.between(start, now)
        if found and found.keys:
            return Anchor(
                found.keys[0],
                start,
                now,
                (),
            )
    return _older_anchor(probe)


def _older_anchor(probe: Probe) -> Anchor:
    """Find a record of the last ten years, and the month that it lies in.

    Raises:
        TooFewError: The range returns no record at all.
        UnsettledError: The record is not on the first page of each range.
    """
    end = probe.api.now
    start = end - _OLDEST * DAY
    found = probe.between(start, end)
    if not found or not found.keys:
        raise TooFewError(_NO_RECORD)
    key = found.keys[0]
    while end - start > _MONTH:
        middle = (start + end) // 2
        if key in probe.keys(start, middle):
            end = middle
        else:
            start = middle
    if key not in probe.keys(start, end):
        raise UnsettledError("a range returns too many records")
    return Anchor(
        key,
        start,
        end,
        (),
    )


def _anchor_by(
    probe: Probe,
    page: Answer,
    path: Path,
) -> Anchor | None:
    """Return the first record of a page with a whole second, if it lies there."""
    for key, time in zip(
        page.keys,
        page.times(path),
        strict=True,
    ):
        if not time.endswith(_WHOLE):
            continue
        second = times.parse_instant(time)
        near = probe.between(second - 1, second + 1)
        if near is None or key not in near.keys:
            return None
        # Ranges may be rounded to days, but what is older is not near.
        oldest = times.format_instant(second - 2 * DAY)
        if min(filter(None, near.times(path))) < oldest:
            return None
        return Anchor(
            key,
            second,
            second,
            path,
        )
    return None


@cache
def ignored_bounds(probe: Probe) -> str:
    """Return which bounds of the range are ignored: "both", "start", "end" or none.

    It asks for a second of next year, which only a range that ignores its start has
    records for, and for one of 1990, which tells the same about its end.

    Raises:
        UnsettledError: The API refuses both, or the range returns nothing at all.
    """
    if not (probe.records or probe.list_fields):
        raise TooFewError(_NO_RECORD)
    now = probe.api.now
    later = probe.between(now + 365 * DAY, now + 365 * DAY + 1)
    before = probe.between(_LONG_AGO, _LONG_AGO + 1)
    if later is None and before is None:
        return _compare_days(probe)
    ignores_start = bool(later and later.keys)
    ignores_end = bool(before and before.keys)
    if ignores_start and ignores_end:
        return "both"
    if ignores_start:
        # Where the past is refused, its end is not known.
        return "start" if before else "both"
    if ignores_end:
        return "end" if later else "both"
    find_anchor(probe)
    return ""


def _compare_days(probe: Probe) -> str:
    """Tell from two days that do not touch whether a range is obeyed."""
    now = probe.api.now
    today = probe.keys(now - DAY, now)
    before = probe.keys(now - 3 * DAY, now - 2 * DAY)
    if today & before:
        return "both"
    if today and before:
        return ""
    raise UnsettledError("the API refuses the past and the future")


def restricts(probe: Probe) -> Found:
    """Does the range restrict the records?"""
    bounds = ignored_bounds(probe)
    if not bounds:
        return "yes", {}
    if bounds == "both":
        return "ignored", {}
    return "half", {"bound": bounds}


def _obeying(probe: Probe) -> Anchor:
    """Return an anchor of a range that obeys its bounds."""
    if ignored_bounds(probe):
        raise UnsettledError
    return find_anchor(probe)


def _at_second(probe: Probe) -> Anchor:
    """Return an anchor whose second is known."""
    anchor = _obeying(probe)
    if not anchor.path:
        if may_be_short(probe)[0] != "yes":
            raise UnsettledError("the API refuses short ranges")
        raise TooFewError("no record shows its time there in whole seconds")
    return anchor


def includes_ends(probe: Probe) -> Found:
    """Do the ends of a range belong to it?"""
    key, second, _, _ = _at_second(probe)
    if probe.holds(
        key,
        second,
        second,
    ):
        return "both", {}
    start = probe.holds(
        key,
        second,
        second + 60,
    )
    end = probe.holds(
        key,
        second - 60,
        second,
    )
    if start and end:
        return "both", {}
    if start:
        return "only_start", {}
    return "only_end" if end else "neither", {}


@cache
def rounded_to(probe: Probe) -> str:
    """Return the unit that a range is rounded to, empty if it is to seconds.

    It asks for another second of the same minute, hour or day, far from the anchor. If
    that returns the anchor, the range is rounded.
    """
    key, second, _, _ = _at_second(probe)
    rounded = ""
    for name, unit in UNITS.items():
        other = _far_within(
            unit,
            second,
            probe.api.now,
        )
        if not probe.holds(
            key,
            other,
            other + 1,
        ):
            break
        rounded = name
    return rounded


def _far_within(unit: int, second: int, now: int) -> int:
    """Return another second of the same minute, hour or day, and not of the future.

    Args:
        unit: The seconds of the minute, hour or day.
        second: The second, in UTC seconds since 1970.
        now: The present.

    Raises:
        UnsettledError: There is none that is far enough.
    """
    inside = second % unit
    start = second - inside
    end = start + unit - 2
    if inside < unit / 2 and end < now:
        return end
    if inside > _OVERLAP:
        return start
    raise UnsettledError("the record is too new")


def is_rounded(probe: Probe) -> Found:
    """Are the ends of a range rounded to minutes, hours or days?"""
    unit = rounded_to(probe)
    return "yes" if unit else "no", {"unit": unit}


def _width(probe: Probe, length: int) -> str:
    """Return what the API makes of a range that is so many seconds wide.

    It asks for a range that ends with the anchor, and for one that begins with it. A
    range that is cut lacks what is at one of its ends, whichever the API cuts off.

    Returns:
        "yes", "cut" or "refused".

    Raises:
        UnsettledError: The question cannot be settled.
    """
    anchor = _obeying(probe)
    # A second more, as an end may not belong to the range.
    end = min(anchor.end + 1, probe.api.now)
    start = anchor.start - 1
    before = _part(
        probe,
        anchor.key,
        end - length,
        end,
        end - length,
    )
    after = _part(
        probe,
        anchor.key,
        start,
        start + length,
        start + length - DAY,
    )
    if after == "outside":
        after = _last_days(probe, length)
    for outcome in ("cut", "refused"):
        if outcome in {before, after}:
            return outcome
    if before == after == "yes":
        return "yes"
    raise UnsettledError("the API refuses past or future time that this question needs")


def _part(
    probe: Probe,
    key: str,
    start: int,
    end: int,
    far: int,
) -> str:
    """Return what the API makes of an interval that a record lies in.

    Args:
        probe: The range.
        key: What identifies the record.
        start: Where the interval begins.
        end: Where it ends.
        far: Where its day begins that is farthest from the record.

    Returns:
        "yes", "cut" or "refused"; "outside" if the API refuses that day as well, so
        that the width is not the reason.
    """
    if probe.between(start, end):
        held = probe.holds(
            key,
            start,
            end,
        )
        return "yes" if held else "cut"
    if probe.between(far, far + DAY):
        return "refused"
    return "outside"


def _last_days(probe: Probe, length: int) -> str:
    """Return what the API makes of a range up to now, where it refuses the future."""
    now = probe.api.now
    start = now - length
    first = probe.between(start, start + DAY)
    if first is None or not first.keys:
        return "outside"
    # The record may be on the last page, as it is at the other end.
    if probe.between(start, now) is None:
        return "refused"
    held = probe.holds(
        first.keys[-1],
        start,
        now,
        _MOST_PAGES,
    )
    return "yes" if held else "cut"


def may_be_a_year_wide(probe: Probe) -> Found:
    """May a range be a year wide?"""
    return _width(probe, _YEAR), {}


def may_be_a_window_wide(probe: Probe) -> Found:
    """May a range be as wide as a time window, and is it read completely?"""
    window = probe.stream.settings.window
    if window <= _YEAR:
        with suppress(UnsettledError):
            if _width(probe, _YEAR) == "yes":
                return "yes", {}
    case = _width(probe, window)
    if case == "yes":
        return case, {}
    for days in _WINDOWS:
        if days * DAY < window and _width(probe, days * DAY) == "yes":
            return case, {"window_days": days}
    return case, {"window_days": None}


@cache
def may_be_short(probe: Probe) -> Found:
    """May a range be a minute wide? Longer ones are tried if it may not."""
    now = probe.api.now
    if probe.between(now - _MINUTE, now):
        return "yes", {}
    for name, length in _LENGTHS.items():
        if probe.between(now - length, now):
            # No ordinary run asks for less than an hour.
            case = "hour" if length == _LENGTHS["an hour"] else "no"
            return case, {"least": name}
    raise UnsettledError("the API refuses each length")


def may_end_in_the_future(probe: Probe) -> Found:
    """May a range end in the future?"""
    now = probe.api.now
    return "yes" if probe.between(now - DAY, now + DAY) else "no", {}


@cache
def earliest(probe: Probe) -> int:
    """Return the earliest instant that the API answers for, at most ten years ago.

    Raises:
        UnsettledError: It refuses even the last day.
    """
    now = probe.api.now
    if not _is_refused(_OLDEST, probe):
        return now - _OLDEST * DAY
    days = (
        bisect(
            range(_OLDEST),
            0,
            key=partial(_is_refused, probe=probe),
        )
        - 1
    )
    if days < 0:
        raise UnsettledError("the API refuses each day")
    return now - days * DAY


def _is_refused(days: int, probe: Probe) -> bool:
    """Return whether the API refuses the day that began so many days ago."""
    start = probe.api.now - days * DAY
    return probe.between(start, start + DAY) is None


def reaches_back(probe: Probe) -> Found:
    """From when on does the API answer? The ranges of a stream likely reach as far."""
    instant = earliest(probe.ranges[0])
    if instant == probe.api.now - _OLDEST * DAY:
        return "yes", {}
    date = times.format_instant(instant + DAY)[:10]
    is_late = probe.stream.settings.start >= instant
    return "no", {
        "date": date,
        "start_date": None if is_late else date,
    }
