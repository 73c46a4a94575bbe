"""Changes to states: forget an interval, join shards, and move to another place."""

from collections.abc import Iterable, Mapping, Sequence

from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.intervals import Coverage, Interval
from tap_leadintent.replication.run import OLDEST_SIGNAL
from tap_leadintent.state_tool.bookmarks import RANGES, format_problem
from tap_leadintent.state_tool.document import RawState, StateError
from tap_leadintent.streams.state import COVERAGE, read_bookmark
from tap_leadintent.times import EARLIEST, LATEST, format_interval

EVERYTHING = (EARLIEST, LATEST)
"""The interval of all time."""


def forget(
    state: RawState,
    stream: str,
    forgotten: Interval,
) -> RawState:
    """Return a state without an interval, so that the next run reads it again.

    Args:
        state: The state of the stream.
        stream: The name of the stream.
        forgotten: The interval, in UTC seconds since 1970.

    Returns:
        The state of the stream. The interval is missing in all of its time ranges. If
        it reaches to the last run, the next run also reads again what would be due if
        the last run had been at its beginning. If it is `EVERYTHING`, the state belongs
        to no place any more.

    Raises:
        StateError: The state covers nothing of the interval.
    """
    bookmark = read_bookmark(state)
    if forgotten == EVERYTHING and not bookmark.is_empty:
        return {**state, COVERAGE: []}
    remaining: Coverage = {}
    for name, covered in bookmark.coverage.items():
        remaining[name] = intervals.subtract(covered, forgotten)
    start, end = forgotten
    planned = bookmark.planned
    if planned is not None and start < planned <= end:
        bookmark.planned = start
    if remaining == bookmark.coverage and bookmark.planned == planned:
        nothing = "the state covers nothing"
        if forgotten != EVERYTHING:
            nothing = f"{nothing} {format_interval(forgotten)}"
        raise StateError(f"{stream}: {nothing}{format_problem(bookmark)}")
    bookmark.coverage = remaining
    return {**state, COVERAGE: bookmark.to_state()}


def adopt(
    state: RawState,
    stream: str,
    place: Mapping[str, str],
) -> RawState:
    """Return a state that belongs to another place.

    Args:
        state: The state of the stream.
        stream: The name of the stream.
        place: The place, see `config/place.py`.

    Returns:
        The state of the stream.

    Raises:
        StateError: The filters differ, so that rows may be missing, or the state covers
            nothing.
    """
    bookmark = read_bookmark(state)
    if bookmark.is_empty:
        raise StateError(
            f"{stream}: the state covers nothing{format_problem(bookmark)}"
        )
    if "filters" in bookmark.differing(place):
        raise StateError(
            f"{stream}: filters.{stream} has changed, so rows may be missing; load the "
            f"stream again, with tap-leadintent-state forget --stream {stream}"
        )
    bookmark.place = {**bookmark.place, **place}
    return {**state, COVERAGE: bookmark.to_state()}


def join(
    shards: Sequence[dict[str, RawState]],
    start: int | None,
    end: int | None,
    *,
    allow_holes: bool,
) -> dict[str, RawState]:
    """Return one state for the states of several shards.

    Args:
        shards: For each shard, the state of each stream.
        start: Where the interval begins that the shards must cover together, in UTC
            seconds since 1970. None stands for the beginning of what they cover.
        end: Where this interval ends.
        allow_holes: Whether the shards may leave gaps in this interval.

    Returns:
        For each stream, everything that the shards cover together. What came late since
        the first of them was read is due to be read again.

    Raises:
        StateError: The shards have different addresses or filters, or leave a gap.
    """
    joined: dict[str, RawState] = {}
    for shard in shards:
        for name, state in shard.items():
            joined[name] = {**joined.get(name, {}), **state}
    for name, state in joined.items():
        if not RANGES.get(name):
            continue
        bookmarks: list[Bookmark] = []
        for shard in shards:
            bookmark = read_bookmark(shard.get(name, {}))
            if bookmark.problem:
                raise StateError(f"{name}: {bookmark.problem}")
            bookmarks.append(bookmark)
        if not allow_holes:
            _refuse_gaps(name, bookmarks, start, end)
        state[COVERAGE] = _join_bookmarks(name, bookmarks).to_state()
    return joined


def _join_bookmarks(stream: str, shards: Sequence[Bookmark]) -> Bookmark:
    """Return one bookmark for the bookmarks of several shards."""
    bookmark = Bookmark()
    for shard in shards:
        if not shard.is_empty:
            others = [each for each in shards if each is not shard]
            kept = _not_overwritten(stream, shard.coverage, others)
            _add_bookmark(stream, bookmark, shard, kept)
    # A hole of one shard may have been read by another.
    for name, covered in bookmark.coverage.items():
        for interval in covered:
            holes = bookmark.holes.get(name, [])
            bookmark.holes[name] = intervals.subtract(holes, interval)
    return bookmark


def _not_overwritten(
    stream: str,
    coverage: Coverage,
    others: Sequence[Bookmark],
) -> Coverage:
    """Return what a shard covers, without what others may have overwritten.

    Rows that another shard has read by the first range may have been written after
    those that this one has read by a later range, and be older. So the next run reads
    the later ranges again, as a run does that reads such rows itself.
    """
    first, *later = RANGES[stream]
    kept = {**coverage}
    for other in others:
        for start, _ in other.coverage.get(first, []):
            overwritten = (start - OLDEST_SIGNAL, LATEST)
            for name in later:
                known = kept.get(name, [])
                kept[name] = intervals.subtract(known, overwritten)
    return kept


def _add_bookmark(
    stream: str,
    bookmark: Bookmark,
    shard: Bookmark,
    covered: Coverage,
) -> None:
    """Add to a bookmark what is covered of another one."""
    names = bookmark.differing(shard.place)
    if names:
        differing = ", ".join(names)
        raise StateError(
            f"{stream}: the states belong to different places: {differing}"
        )
    bookmark.place = {**bookmark.place, **shard.place}
    _add_coverage(bookmark.coverage, covered)
    _add_coverage(bookmark.holes, shard.holes)
    if bookmark.planned is None:
        bookmark.planned = shard.planned
    elif shard.planned is not None:
        bookmark.planned = min(bookmark.planned, shard.planned)
    for number in shard.caps.numbers:
        bookmark.caps.note_number(number)
    bookmark.caps.page = bookmark.caps.page or shard.caps.page


def _add_coverage(coverage: Coverage, other: Coverage) -> None:
    for name, added in other.items():
        covered = coverage.get(name, [])
        coverage[name] = intervals.union([*covered, *added])


def _refuse_gaps(
    stream: str,
    shards: Iterable[Bookmark],
    start: int | None,
    end: int | None,
) -> None:
    first = RANGES[stream][0]  # shards have an end date, so they read no other range
    read: list[Interval] = []
    for shard in shards:
        read += shard.coverage.get(first, [])
    covered = intervals.union(read)
    if not covered:
        return
    first_read, _ = covered[0]
    _, last_read = covered[-1]
    since = first_read if start is None else start
    until = last_read if end is None else end
    asked = (min(since, until), max(since, until))
    for gap in intervals.missing(asked, covered):
        raise StateError(
            f"{stream}: no shard has read {first} {format_interval(gap)}; join the "
            "shard that has, or give --allow-holes to let the next run read it"
        )
