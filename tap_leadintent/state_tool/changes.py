"""Changes to states: forget an interval, and join the states of shards."""

from collections.abc import Iterable, Sequence
from itertools import chain

from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import COVERAGE, Bookmark
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool.bookmarks import RANGES, format_problem, read_last_source
from tap_leadintent.state_tool.document import RawState, StateError
from tap_leadintent.times import EARLIEST, LATEST, format_interval


def forget(state: RawState, stream: str, forgotten: Interval) -> RawState:
    """Return a state without an interval, so that the next run reads it again.

    Args:
        state: The state of the stream.
        stream: The name of the stream.
        forgotten: The interval, in UTC seconds since 1970.

    Returns:
        The state of the stream. The interval is missing in all time ranges of the last
        run's source. What was read of other sources is dropped, as rows of the interval
        may be missing there, too.

    Raises:
        StateError: The state covers nothing of the interval.
    """
    bookmark = read_last_source(state)
    remaining = {
        name: intervals.subtract(covered, forgotten)
        for name, covered in bookmark.coverage.items()
    }
    if remaining == bookmark.coverage:
        asked = "" if forgotten == (EARLIEST, LATEST) else format_interval(forgotten)
        nothing = f"the state covers nothing {asked}".rstrip()
        raise StateError(f"{stream}: {nothing}{format_problem(bookmark)}")
    bookmark.coverage, bookmark.others = remaining, []
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
        For each stream, everything that the shards cover together, and what they keep
        about other sources.

    Raises:
        StateError: The shards have different addresses or filters, or leave a gap.
    """
    joined: dict[str, RawState] = {}
    for name, state in chain.from_iterable(shard.items() for shard in shards):
        joined[name] = {**joined.get(name, {}), **state}
    for name in [name for name in joined if RANGES.get(name)]:
        states = [shard.get(name, {}) for shard in shards]
        bookmarks = [read_last_source(state) for state in states]
        source = _common_source(name, bookmarks)
        if not allow_holes:
            _refuse_gaps(name, bookmarks, start, end)
        entries = [*chain.from_iterable(state.get(COVERAGE, ()) for state in states)]
        bookmark = Bookmark.read({COVERAGE: entries}, source)
        joined[name][COVERAGE] = bookmark.to_state()
    return joined


def _common_source(stream: str, shards: Sequence[Bookmark]) -> Source:
    for problem in filter(None, (shard.problem for shard in shards)):
        raise StateError(f"{stream}: {problem}")
    sources = dict.fromkeys(shard.source for shard in shards if shard.coverage)
    if len(sources) > 1:
        names = " and ".join(map(str, sources))
        raise StateError(f"{stream}: the states are about different sources: {names}")
    return next(iter(sources), Source("", ""))


def _refuse_gaps(
    stream: str, shards: Iterable[Bookmark], start: int | None, end: int | None
) -> None:
    first = RANGES[stream][0]  # shards have an end date, so they read no other range
    covered = intervals.union(
        interval for shard in shards for interval in shard.coverage.get(first, [])
    )
    if covered:
        since = covered[0][0] if start is None else start
        until = covered[-1][1] if end is None else end
        asked = (min(since, until), max(since, until))
        for gap in intervals.missing(asked, covered):
            raise StateError(
                f"{stream}: no shard has read {first} {format_interval(gap)}; join the "
                "shard that has, or give --allow-holes to let the next run read it"
            )
