"""What a state says of a stream, what a run reads by it, and changes to it.

What the command needs to know of coverage and plans is here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import COVERAGE, Bookmark
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.plan import Plan, Scope, make_plan
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool.document import RawState, StateError
from tap_leadintent.streams import STREAMS
from tap_leadintent.times import format_instant

_FULL_TABLE = "full table; every run reads all of it"
_AGAIN = "again, so that the newest signal comes last"


# From the classes, because the SDK creates streams only with a tap.
RANGES = {vars(each)["name"]: [*each.ranges] for each in STREAMS}
"""The time ranges of each stream; runs with `end_date` read the first alone."""

_INCREMENTAL = {vars(e)["name"] for e in STREAMS if "replication_key" in vars(e)}


def _is_full_table(stream: str, state: RawState) -> bool:
    # A catalog may let others be read by their ranges.
    return stream not in _INCREMENTAL and not state.get(COVERAGE)


def _last(state: RawState) -> Bookmark:
    """Read what a state says of the last run's source."""
    bookmark = Bookmark.read(state, Source("", ""))
    return Bookmark.read(state, bookmark.former) if bookmark.former else bookmark


def _stretch(interval: Interval) -> str:
    start, end = map(format_instant, interval)
    return f"from {start} to {end}"


def _problem(bookmark: Bookmark) -> str:
    return f"; {bookmark.problem}" if bookmark.problem else ""


def describe(stream: str, state: RawState) -> Iterator[str]:
    """Say what is covered of a stream.

    Args:
        stream: The stream.
        state: Its state.

    Yields:
        Lines of text.
    """
    bookmark = _last(state)
    coverage = bookmark.coverage
    if not any(coverage):
        told = _FULL_TABLE if _is_full_table(stream, state) else "nothing is covered"
        yield f"{stream}: {told}{_problem(bookmark)}"
        return
    yield stream
    yield f"  {bookmark.source}"
    for name, piece in coverage:
        yield f"    {name}: covered {_stretch(piece)}"
    if coverage.rechecked is not None:
        yield f"    the recheck was done last at {format_instant(coverage.rechecked)}"
    others = ((each["source"], each.get("filters", "")) for each in bookmark.others)
    for other in dict.fromkeys(others):
        yield f"  {Source(*other)}: kept, but runs do not go by it now"


def describe_plan(
    stream: str,
    config: Mapping[str, Any],
    state: RawState,
    now: int,
    at: int | None = None,
) -> Iterator[str]:
    """Say what a run reads of a stream, and why.

    Args:
        stream: The stream.
        config: Valid settings.
        state: The stream's state.
        now: When the run begins, in UTC seconds since 1970.
        at: Say only whether this instant is covered, and whether it is read.

    Yields:
        Lines of text.
    """
    if _is_full_table(stream, state):
        yield f"{stream}: {_FULL_TABLE}"
        return
    scope = Scope.of(config, RANGES[stream])
    source = Source.of(config, config["filters"].get(stream, {}))
    bookmark = Bookmark.read(state, source)
    plan = make_plan(scope, bookmark.coverage, now)
    first = f"first load{_problem(bookmark)}"
    if at is None:
        yield stream
    for name in RANGES[stream]:
        read = [*_read(plan, name, scope.lookback, first)]
        if at is not None:
            told = _at(
                at, plan.coverage.pieces(name), read, _told_scope(scope, name, now)
            )
            yield f"{stream}: {name} at {format_instant(at)}: {told}"
            continue
        for piece, why in read:
            yield f"  {name} {_stretch(piece)}: {why}"
        if not read:
            yield f"  {name}: nothing; {_told_scope(scope, name, now)}"


def _at(
    at: int, covered: list[Interval], read: list[tuple[Interval, str]], scope: str
) -> str:
    inside = [(start, end) for start, end in covered if start <= at <= end]
    told = f"covered {_stretch(inside[0])}" if inside else "not covered"
    for (start, end), why in read:
        if start <= at < end:
            return f"{told}; the next run reads it: {why}"
    return f"{told}; the next run does not read it{'' if inside else f': {scope}'}"


def _told_scope(scope: Scope, name: str, now: int) -> str:
    first = scope.ranges[0]
    if scope.end is not None and name != first:
        return f"a run with end_date reads {first} alone"
    until = now if scope.end is None else min(now, scope.end)
    return f"it is asked for all {_stretch((scope.since, until))}"


def _read(
    plan: Plan, name: str, lookback: int, first: str
) -> Iterator[tuple[Interval, str]]:
    """Give what a run reads of a range, cut where the reason changes."""
    covered = plan.coverage.pieces(name)
    for step in plan.steps:
        if name in step.covers:
            if covered and step.kind != "recheck":
                yield from _reasons(step.stretches, covered, lookback)
            else:
                why = step.kind if step.kind == "recheck" else first
                yield from ((piece, why) for piece in step.stretches)


def _reasons(
    stretches: list[Interval], covered: list[Interval], lookback: int
) -> list[tuple[Interval, str]]:
    """Cut what a run reads of a range where the reason changes, oldest first."""
    newest = covered[-1][1]
    gaps = intervals.missing((stretches[0][0], stretches[-1][1]), covered)
    told = [(gap, "new" if gap[0] >= newest else "missing") for gap in gaps]
    # There may be thousands of gaps; what is read besides is one stretch or two.
    for other in {*stretches} - {*gaps}:
        for piece in intervals.overlap(covered, other):
            is_lookback = piece[0] >= newest - lookback
            again = "lookback" if is_lookback else _AGAIN
            told.append((piece, again))
    return sorted(told)


def forget(state: RawState, stream: str, gone: Interval) -> RawState:
    """Take a stretch of a stream back, so that the next run reads it again.

    Args:
        state: The stream's state.
        stream: The stream.
        gone: The stretch, in UTC seconds since 1970.

    Returns:
        The state. What it covers of the last run's source lacks the stretch, in all
        time ranges; other sources are unchanged.

    Raises:
        StateError: Nothing of the stretch is covered.
    """
    bookmark = _last(state)
    coverage = bookmark.coverage
    left = [
        (name, piece)
        for name, covered in coverage
        for piece in intervals.subtract([covered], gone)
    ]
    if left == [*coverage] or gone[0] >= gone[1]:
        msg = f"{stream}: nothing is covered {_stretch(gone)}{_problem(bookmark)}"
        raise StateError(msg)
    bookmark.coverage = Coverage(left, rechecked=coverage.rechecked)
    return {**state, COVERAGE: bookmark.to_state(bookmark.key_mark)}


def join(
    shards: Sequence[dict[str, RawState]],
    start: int | None,
    end: int | None,
    *,
    lookback: int,
    allow_holes: bool,
) -> dict[str, RawState]:
    """Unite the states of shards.

    Args:
        shards: The state of each stream, of each shard.
        start: Where what they must cover together begins, in UTC seconds since 1970;
            None means where what they cover does.
        end: Where it ends.
        lookback: `lookback_minutes`, in seconds.
        allow_holes: Whether what the shards cover may have gaps.

    Returns:
        For each stream what all of them cover together, without the lookback before
        the newest instant of each, which is not settled; and all that they keep of
        other sources.

    Raises:
        StateError: They are about different addresses or filters, or have gaps.
    """
    joined: dict[str, RawState] = {}
    for name, state in chain.from_iterable(shard.items() for shard in shards):
        joined[name] = {**joined.get(name, {}), **state}
    for name in [name for name in joined if RANGES.get(name)]:
        states = [shard.get(name, {}) for shard in shards]
        bookmarks = [_last(state) for state in states]
        source = _common_source(name, bookmarks)
        if not allow_holes:
            _refuse_gaps(name, bookmarks, start, end)
        entries = [*chain.from_iterable(state.get(COVERAGE, ()) for state in states)]
        whole = Bookmark.read({COVERAGE: entries}, source)
        whole.coverage = Coverage(
            (each, piece)
            for each in RANGES[name]
            for bookmark in bookmarks
            for piece in _settled(bookmark.coverage.pieces(each), lookback)
        )
        joined[name][COVERAGE] = whole.to_state(whole.key_mark)
    return joined


def _common_source(stream: str, shards: Sequence[Bookmark]) -> Source:
    for problem in filter(None, (shard.problem for shard in shards)):
        msg = f"{stream}: {problem}"
        raise StateError(msg)
    found = dict.fromkeys(shard.source for shard in shards if any(shard.coverage))
    if len(found) > 1:
        told = " and ".join(map(str, found))
        msg = f"{stream}: only states of one source can be joined; these are of {told}"
        raise StateError(msg)
    return next(iter(found), Source("", ""))


def _settled(pieces: list[Interval], lookback: int) -> list[Interval]:
    newest = pieces[-1][1] if pieces else 0
    return intervals.subtract(pieces, (newest - lookback, newest))


def _refuse_gaps(
    stream: str, shards: Iterable[Bookmark], start: int | None, end: int | None
) -> None:
    first = RANGES[stream][0]  # shards read it alone
    covered = intervals.union(
        piece for shard in shards for piece in shard.coverage.pieces(first)
    )
    if covered:
        since = covered[0][0] if start is None else start
        until = covered[-1][1] if end is None else end
        asked = (min(since, until), max(since, until))
        for gap in intervals.missing(asked, covered):
            msg = (
                f"{stream}: {first} is not covered {_stretch(gap)}; join the shard "
                "that covers it, or give --allow-holes to let the next run read it"
            )
            raise StateError(msg)
