"""Changes to a state: forget a stretch, join states, move to another address."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import COVERAGE, Bookmark
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.recheck import Mark
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool.errors import StateError
from tap_leadintent.state_tool.sources import moved, sources
from tap_leadintent.state_tool.words import about, stretch
from tap_leadintent.times import EARLIEST, LATEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    coverage.begin_absent(stream.ranges)
    forgotten = [
        gone
        for name in ranges
        if (gone := _forget(coverage, name, bounds, stream.ranges[0]))
    ]
    if not forgotten:
        start, end = bounds
        told = stretch((EARLIEST if start is None else start, _or_latest(end)))
        msg = f"{stream.name}: nothing of {' and '.join(ranges)} is covered {told}"
        raise StateError(msg)
    entries = bookmark.to_state(bookmark.key)
    return {**states, stream.name: {**states[stream.name], COVERAGE: entries}}


def _forget(coverage: Coverage, name: str, bounds: Bounds, first: str) -> bool:
    oldest, _ = coverage.span(name) or (EARLIEST, EARLIEST)
    start = oldest if bounds[0] is None else bounds[0]
    gone = (start, max(start, _or_latest(bounds[1])))
    return bool(coverage.forget(name, gone, read_from_oldest=name != first))


def _or_latest(end: int | None) -> int:
    return LATEST if end is None else end


def _current(states: States, stream: Stream) -> Bookmark:
    state = states.get(stream.name, {})
    if COVERAGE not in state and "replication_key_value" in state:
        msg = (
            f"{stream.name}: its state is only a bookmark of the SDK; run the tap "
            "once, then it says what is covered"
        )
        raise StateError(msg)
    source = next(iter(sources(state)), Source("", ""))
    return Bookmark.read(state, source, stream.ranges, 0)


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
    allow_holes: bool,
) -> States:
    """Unite the states of shards.

    Args:
        documents: The states.
        streams: All streams.
        bounds: What they must cover together, in UTC seconds since 1970; None means
            as far as they reach.
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
            bookmark, key = _join_stream(documents, stream, address)
            if not allow_holes:
                _refuse_gaps(stream, bookmark.coverage, bounds)
            joined[stream.name][COVERAGE] = bookmark.to_state(key)
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


def _join_stream(
    documents: Iterable[Document], stream: Stream, address: str
) -> tuple[Bookmark, str]:
    found: dict[str, str] = {}
    bookmarks: list[Bookmark] = []
    for document in documents:
        filters = _current(document.bookmarks, stream).source.filters
        state = document.bookmarks.get(stream.name, {})
        bookmark = Bookmark.read(state, Source(address, filters), stream.ranges, 0)
        bookmark.coverage.begin_absent(stream.ranges)
        if state.get(COVERAGE):
            found.setdefault(filters, document.name)
        bookmarks.append(bookmark)
    if len(found) > 1:
        told = " and ".join(f"{name} {about('', each)}" for each, name in found.items())
        msg = (
            f"{stream.name}: only states of the same filters can be joined, but {told}"
        )
        raise StateError(msg)
    coverage = Coverage(chain.from_iterable(each.coverage for each in bookmarks))
    marks = [each.coverage.recheck for each in bookmarks if each.coverage.recheck]
    if marks:
        oldest = min(each.place for each in marks)
        coverage.recheck = Mark(
            stream.ranges[0], oldest, min(each.done for each in marks)
        )
    others = {
        msgspec.json.encode(entry): entry for each in bookmarks for entry in each.others
    }
    source = Source(address, next(iter(found), ""))
    key = next((each.key for each in bookmarks if each.key), "")
    return Bookmark(source, coverage, [*others.values()]), key


def _refuse_gaps(stream: Stream, coverage: Coverage, bounds: Bounds) -> None:
    # Where the other ranges begin differs from shard to shard, and runs read them from
    # the earliest on, whatever is missing in between.
    first = stream.ranges[0]
    start, end = bounds
    if span := coverage.span(first):
        asked = span[0] if start is None else start, span[1] if end is None else end
        for gap in intervals.missing(asked, coverage.pieces(first)):
            msg = (
                f"{stream.name}: {first} is not covered {stretch(gap)}; join the shard "
                "that covers it, or give --allow-holes to let the next run read it"
            )
            raise StateError(msg)
