"""Changes to a state: forget a stretch, join states, move to another address."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import COVERAGE, Bookmark
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.plan import SINCE_EVER
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool.errors import StateError
from tap_leadintent.state_tool.sources import moved, sources
from tap_leadintent.state_tool.words import about, stretch
from tap_leadintent.times import EARLIEST, LATEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tap_leadintent.replication.intervals import Interval
    from tap_leadintent.state_tool.document import Document
    from tap_leadintent.state_tool.streams import Stream

    Bounds = tuple[int | None, int | None]
    States = dict[str, dict[str, Any]]


def forget(
    states: States,
    stream: Stream,
    ranges: Sequence[str],
    bounds: Bounds,
) -> States:
    """Take a stretch of a stream back, so that the next run reads it again.

    Args:
        states: The state of each stream.
        stream: The stream.
        ranges: The time ranges to take it back of.
        bounds: Where the stretch begins and ends, in UTC seconds since 1970; None
            means as far as the coverage reaches.

    Returns:
        The states; the coverage of the last run's source lacks the stretch, other
        sources are unchanged.

    Raises:
        StateError: Nothing of the stretch is covered.
    """
    bookmark = _current(states, stream)
    coverage = bookmark.coverage
    left = {name: coverage.pieces(name) for name in stream.ranges}
    start, end = bounds
    gone = (EARLIEST if start is None else start, _or_latest(end))
    if not any(intervals.overlap(left[name], gone) for name in ranges):
        told = stretch(gone)
        msg = f"{stream.name}: nothing of {' and '.join(ranges)} is covered {told}"
        raise StateError(msg)
    for name in ranges:
        left[name] = intervals.subtract(left[name], gone)
    _refuse_what_counts_all_the_same(stream, coverage, left, ranges)
    pieces = ((name, piece) for name in left for piece in left[name])
    bookmark.coverage = Coverage(pieces, rechecked=coverage.rechecked)
    entries = bookmark.to_state(bookmark.key)
    return {**states, stream.name: {**states[stream.name], COVERAGE: entries}}


def _refuse_what_counts_all_the_same(
    stream: Stream,
    coverage: Coverage,
    left: Mapping[str, Sequence[Interval]],
    ranges: Sequence[str],
) -> None:
    first, *others = stream.ranges
    begun = left[first] and left[first][0][0] <= SINCE_EVER
    for name in others if begun and first not in ranges else ():
        if left[name] and left[name][0][0] > coverage.pieces(name)[0][0]:
            msg = (
                f"--range: without start_date, {first} counts for what lies before the "
                f"oldest covered instant of {name}; leave --range out"
            )
            raise StateError(msg)


def _or_latest(end: int | None) -> int:
    return LATEST if end is None else end


def _current(states: States, stream: Stream) -> Bookmark:
    state = states.get(stream.name, {})
    source = next(iter(sources(state)), Source("", ""))
    return Bookmark.read(state, source)


def move(states: States, from_address: str, to_address: str) -> States:
    """Change the address in states: the API has moved, its data is the same.

    Args:
        states: The state of each stream.
        from_address: The old address, normalised.
        to_address: The new address, normalised.

    Returns:
        The states; entries of further addresses are unchanged.

    Raises:
        StateError: No entry has the old address.
    """
    known = {
        source.address: None for state in states.values() for source in sources(state)
    }
    if from_address not in known:
        told = ", ".join(filter(None, known)) or "no address"
        msg = (
            f"--from-source: the state says nothing of {from_address}; it is about "
            f"{told}"
        )
        raise StateError(msg)
    return {
        name: moved(state, from_address, to_address) for name, state in states.items()
    }


def join(
    documents: Sequence[Document],
    streams: Iterable[Stream],
    bounds: Bounds = (None, None),
    *,
    lookback: int,
    allow_holes: bool,
) -> States:
    """Unite the states of shards.

    Of each, the lookback before its newest covered instant does not count: what
    surfaced late may be missing there.

    Args:
        documents: The states.
        streams: All streams.
        bounds: What they must cover together, in UTC seconds since 1970; None means
            as far as they reach.
        lookback: `lookback_minutes`, in seconds.
        allow_holes: Whether what the shards cover may have gaps.

    Returns:
        What all of them cover together, and all that they keep of other sources.

    Raises:
        StateError: They are about different addresses or filters, or have gaps.
    """
    joined: States = {}
    for document in documents:
        for name, state in document.bookmarks.items():
            joined[name] = {**joined.get(name, {}), **state}
    address = _common_address(documents, streams)
    for stream in streams:
        if stream.ranges and stream.name in joined:
            shards = _shards(documents, stream, address)
            if not allow_holes:
                _refuse_gaps(stream, shards, bounds)
            joined[stream.name][COVERAGE] = _joined(shards, lookback)
    return joined


def _common_address(documents: Iterable[Document], streams: Iterable[Stream]) -> str:
    found: dict[str, str] = {}
    for document in documents:
        for stream in streams:
            address = _current(document.bookmarks, stream).source.address
            if address:
                found.setdefault(address, document.name)
    if len(found) > 1:
        told = " and ".join(f"{name} of {each}" for each, name in found.items())
        msg = f"only states of one source can be joined, but {told}; see `move`"
        raise StateError(msg)
    return next(iter(found), "")


def _shards(
    documents: Iterable[Document], stream: Stream, address: str
) -> list[Bookmark]:
    """Read what each state says of a stream; their filters must be the same."""
    found: dict[str, str] = {}
    bookmarks: list[Bookmark] = []
    for document in documents:
        filters = _current(document.bookmarks, stream).source.filters
        state = document.bookmarks.get(stream.name, {})
        bookmarks.append(Bookmark.read(state, Source(address, filters)))
        if state.get(COVERAGE):
            found.setdefault(filters, document.name)
    if len(found) > 1:
        told = " and ".join(f"{name} {about('', each)}" for each, name in found.items())
        msg = (
            f"{stream.name}: only states of the same filters can be joined, but {told}"
        )
        raise StateError(msg)
    return bookmarks


def _joined(shards: Sequence[Bookmark], lookback: int) -> list[dict[str, Any]]:
    coverage = Coverage(chain.from_iterable(_settled(s, lookback) for s in shards))
    others = {msgspec.json.encode(entry): entry for s in shards for entry in s.others}
    source = max((shard.source for shard in shards), key=lambda each: each.filters)
    key = next((shard.key for shard in shards if shard.key), "")
    return Bookmark(source, coverage, [*others.values()]).to_state(key)


def _settled(shard: Bookmark, lookback: int) -> Iterator[tuple[str, Interval]]:
    for name in dict.fromkeys(name for name, _ in shard.coverage):
        pieces = shard.coverage.pieces(name)
        newest = pieces[-1][1]
        for piece in intervals.subtract(pieces, (newest - lookback, newest)):
            yield name, piece


def _refuse_gaps(stream: Stream, shards: Iterable[Bookmark], bounds: Bounds) -> None:
    # Shards read the first range alone.
    first = stream.ranges[0]
    covered = intervals.union(
        piece for shard in shards for piece in shard.coverage.pieces(first)
    )
    start, end = bounds
    if covered:
        asked = (
            covered[0][0] if start is None else start,
            covered[-1][1] if end is None else end,
        )
        for gap in intervals.missing(asked, covered):
            msg = (
                f"{stream.name}: {first} is not covered {stretch(gap)}; join the shard "
                "that covers it, or give --allow-holes to let the next run read it"
            )
            raise StateError(msg)
