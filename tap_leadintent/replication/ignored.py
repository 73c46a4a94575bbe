"""Notices that the API has begun to ignore a time range that it has obeyed before.

An API that ignores a range, or one of its bounds, answers each window with the same
list. So if two windows that lie far apart begin or end with the same record, it may
ignore the range. The two are mostly read by different runs, so the state keeps what one
window began and ended with. If there is a doubt, the run asks the API for times that
cannot have any records. An API that obeys ranges may return some records for these,
too, such as records without a time. So the run then also asks for ordinary times: the
API ignores the range only if it returns the same page for them.

The windows of one run are compared by `rounding.py`, which asks the API at once.
"""

from dataclasses import dataclass, field
from threading import Event
from typing import Generic, NamedTuple

from tap_leadintent.replication.intervals import Interval, gap
from tap_leadintent.replication.plan import DAY
from tap_leadintent.replication.protocol import Api, Page, PageT

_FAR = DAY
"""Windows that are no further apart than this may return the same record, if the API
rounds ranges to whole days."""

_OTHER_TIMES = 5
"""How many ordinary intervals are compared with the impossible ones at most."""


def impossible_intervals(now: int) -> list[Interval]:
    """Return two intervals that hold no records, however the API reads times.

    Nothing is as old as 1971, or newer than a year from now. An API that returns
    records for these ignores the range, or one of its bounds. It is not asked for the
    first second of 1970, as 0 may stand for a bound or a time that is not known.

    Args:
        now: When the run began, in UTC seconds since 1970.
    """
    earlier = 365 * DAY
    later = now + 365 * DAY
    return [
        (earlier, earlier + 1),
        (later, later + 1),
    ]


class Seen(NamedTuple):
    """What the pages of a window began and ended with."""

    first: int
    """The hash of the first record of its first page."""
    last: int
    """The hash of the last record of its last page."""
    window: Interval

    def resembles(self, other: "Seen") -> bool:
        """Return whether another window has begun or ended with the same record."""
        return self.first == other.first or self.last == other.last

    def is_far_from(self, other: "Seen") -> bool:
        """Return whether an API that obeys ranges returns no record for both windows.

        A record whose time has changed meanwhile may still come in both.
        """
        return gap(self.window, other.window) > _FAR


@dataclass
class _Range:
    """What the windows of a run have shown of one range."""

    newest: Seen | None = None
    """What the newest window with records has shown."""

    resembles: bool = False
    """Whether a window of the run has begun or ended like the remembered one."""

    is_doubtful: bool = False
    """Whether one of these windows lies far from the remembered one."""

    is_obeyed: bool = False
    """Whether the API has been asked, and does not ignore the range."""


@dataclass(repr=False)
class Watch(Generic[PageT]):
    """Compares the windows of a run with what earlier runs have seen."""

    remembered: dict[str, Seen]
    """For each range, what a window of an earlier run has shown."""

    _ranges: dict[str, _Range] = field(default_factory=dict)

    _first: PageT | None = None
    """The first page with records of the window that is emitted now."""

    _last: PageT | None = None
    """The last one that has arrived."""

    def note(
        self,
        range_name: str,
        window: Interval,
        page: PageT | None,
        *,
        is_last: bool,
    ) -> None:
        """Note a page of a window, or that nothing more comes of it.

        Args:
            range_name: The range of the window.
            window: The window.
            page: The page; None if the window was left.
            is_last: Whether nothing more comes of the window.
        """
        if page is not None and page.records:
            if self._first is None:
                self._first = page
            self._last = page
        if not is_last:
            return
        if self._first is not None and self._last is not None:
            first, _ = self._first.ends
            _, last = self._last.ends
            seen = Seen(first, last, window)
            self._compare(range_name, seen)
        self._first = None
        self._last = None

    def _of(self, range_name: str) -> _Range:
        return self._ranges.setdefault(range_name, _Range())

    def _compare(self, range_name: str, seen: Seen) -> None:
        """Compare a window with the remembered one."""
        known = self._of(range_name)
        if not known.newest or seen.window >= known.newest.window:
            known.newest = seen
        before = self.remembered.get(range_name)
        if not before or not before.resembles(seen):
            return
        known.resembles = True
        known.is_doubtful |= before.is_far_from(seen)

    def note_obeyed(self, range_name: str) -> None:
        """Note that the API has been asked, and does not ignore a range."""
        self._of(range_name).is_obeyed = True

    def is_doubtful(
        self,
        range_name: str,
        *,
        has_sign: bool,
    ) -> bool:
        """Return whether the API may ignore a range, and has not been asked yet.

        Args:
            range_name: A range that the run has read.
            has_sign: Whether anything else is a sign of that.
        """
        known = self._of(range_name)
        may_be_ignored = has_sign or known.is_doubtful
        return may_be_ignored and not known.is_obeyed

    def note_ignored(self, range_name: str, now: int) -> None:
        """Note that the API ignores a range.

        Each later run whose windows begin or end with the same records asks again.

        Args:
            range_name: A range that the run has read.
            now: When the run began, in UTC seconds since 1970.
        """
        newest = self._of(range_name).newest
        if newest:
            # A list that ignores the range is returned for such a time, too.
            impossible = impossible_intervals(now)[0]
            self.remembered[range_name] = newest._replace(window=impossible)

    def remember(self, range_name: str) -> None:
        """Choose what the next run compares its windows with.

        A window that this run has seen again stays, so that it becomes old enough to
        prove something, also if runs follow each other soon.

        Args:
            range_name: A range that the run has read.
        """
        known = self._of(range_name)
        if not known.newest:
            return
        if not known.resembles or known.is_obeyed:
            self.remembered[range_name] = known.newest


def is_range_obeyed(
    api: Api[Page],
    range_name: str,
    *,
    now: int,
    widest: int,
    limit: int,
) -> bool | None:
    """Ask the API for times that cannot have any records.

    Args:
        api: The endpoint.
        range_name: The range.
        now: When the run began, in UTC seconds since 1970.
        widest: The most seconds of a window.
        limit: How many records a page to ask for.

    Returns:
        Whether it obeys the range; None if it has not answered.
    """
    impossible: list[Page] = []
    for interval in impossible_intervals(now):
        page = _first_page(api, range_name, interval, limit)
        if page is not None:
            impossible.append(page)
    if not impossible:
        return None
    if not any(page.records for page in impossible):
        return True
    known = {page.fingerprint for page in impossible}
    times = _last_weeks(now, widest)
    if len(impossible) == 1 or len(known) > 1:
        # If one bound alone is ignored, older times have other pages, too, so these
        # prove nothing.
        del times[1:]
    for interval in times:
        page = _first_page(api, range_name, interval, limit)
        if page is None:
            return None
        if page.fingerprint not in known:
            return True
    return False


def _last_weeks(now: int, widest: int) -> list[Interval]:
    """Return intervals that likely hold records, the newest first.

    There may be nothing for weeks, so each lies twice as far back as the one before.

    Args:
        now: When the run began, in UTC seconds since 1970.
        widest: The most seconds of a window.
    """
    times: list[Interval] = []
    for number in range(_OTHER_TIMES):
        seconds_ago = (2**number - 1) * widest
        end = now - seconds_ago
        times.append((end - widest, end))
    return times


def _first_page(
    api: Api[PageT],
    range_name: str,
    interval: Interval,
    limit: int,
) -> PageT | None:
    """Return the first page of an interval.

    Returns:
        The page; None if it cannot be read, which says nothing about the range.
    """
    query = api.query(range_name, interval, limit)
    try:
        return query.fetch(Event(), 0)
    except Exception:  # noqa: BLE001 - of any kind
        return None
