"""What holds of every state that is joined or forgotten, in hours of a few days."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.plan import Asked, make_plan
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool import changes
from tap_leadintent.state_tool.document import Document
from tap_leadintent.state_tool.errors import StateError
from tap_leadintent.state_tool.forecast import forecast
from tap_leadintent.state_tool.streams import declared_streams
from tap_leadintent.times import format_instant
from tests.support.states import HERE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tap_leadintent.replication.intervals import Interval

HOUR = 3600
SPAN = 40
LEADS = declared_streams()["leads"]
FIRST, LATER = LEADS.ranges
SOURCE = Source(HERE, "")

# What begins in 1970 may count for all ranges.
hours = st.integers(1, SPAN)
piece = st.tuples(st.sampled_from(LEADS.ranges), hours, hours).map(
    lambda drawn: (drawn[0], (min(drawn[1:]), max(drawn[1:])))
)
coverages = st.lists(piece, min_size=1, max_size=6)

Pieces = list[tuple[str, tuple[int, int]]]


def in_seconds(pieces: Pieces) -> Coverage:
    return Coverage((name, (a * HOUR, b * HOUR)) for name, (a, b) in pieces)


def states_of(pieces: Pieces) -> dict[str, dict[str, Any]]:
    return {"leads": {"coverage": Bookmark(SOURCE, in_seconds(pieces)).to_state()}}


def covered_by(states: dict[str, dict[str, Any]]) -> Coverage:
    return Bookmark.read(states["leads"], SOURCE).coverage


def inside(stretches: Iterable[Interval]) -> set[int]:
    """Give the hours that stretches hold."""
    return {
        hour for a, b in stretches for hour in range(-(-a // HOUR), b // HOUR) if a <= b
    }


def read(
    states: dict[str, dict[str, Any]], start: int, lookback: int
) -> dict[str, set[int]]:
    """Give the hours that the next run reads of each range; now is SPAN."""
    config = {
        "base_url": HERE,
        "start_date": format_instant(start * HOUR),
        "lookback_minutes": lookback * 60,
        "filters": {},
    }
    found = forecast(LEADS, config, states["leads"], SPAN * HOUR)
    return {each.name: inside(cut for cut, _ in each.pieces) for each in found.ranges}


stretches = st.tuples(hours, hours).filter(lambda pair: pair[0] < pair[1])


@given(coverages, st.sampled_from([*LEADS.ranges, None]), stretches, hours, hours)
def test_what_is_forgotten_is_what_the_next_run_reads_besides(
    pieces: Pieces,
    name: str | None,
    stretch: tuple[int, int],
    start: int,
    lookback: int,
) -> None:
    since, until = stretch
    states = states_of(pieces)
    ranges = LEADS.ranges if name is None else (name,)
    whole = covered_by(states)
    gone = set(range(since, until))
    met = [each for each in ranges if inside(whole.pieces(each)) & gone]
    try:
        left = changes.forget(states, LEADS, ranges, (since * HOUR, until * HOUR))
    except StateError:
        assert not met
        return
    assert met
    before, after = read(states, start, 0), read(left, start, 0)
    for each in LEADS.ranges:
        lost = gone if each in met else set()
        assert inside(covered_by(left).pieces(each)) == (
            inside(whole.pieces(each)) - lost
        )
        asked = before[each] | {hour for hour in lost if hour >= start}
        if each == LATER and asked:
            asked = set(range(min(asked), SPAN))
        assert after[each] == asked
        assert after[each] <= read(left, start, lookback)[each]


@given(coverages, st.sampled_from([*LEADS.ranges, None]), stretches, hours)
def test_what_is_forgotten_of_everything_is_read_again(
    pieces: Pieces, name: str | None, stretch: tuple[int, int], begun: int
) -> None:
    since, until = stretch
    states = states_of([(FIRST, (0, begun)), *pieces])
    ranges = LEADS.ranges if name is None else (name,)
    try:
        left = changes.forget(states, LEADS, ranges, (since * HOUR, until * HOUR))
    except StateError:
        return
    asked = Asked(ranges=LEADS.ranges)
    steps = make_plan(asked, covered_by(left), SPAN * HOUR).steps
    for each in ranges:
        read = inside(cut for s in steps if each in s.covers for cut in s.stretches)
        gone = inside(covered_by(states).pieces(each)) & set(range(since, until))
        assert gone <= read


@given(st.lists(coverages, min_size=1, max_size=4), hours)
def test_shards_joined_cover_what_each_has_settled(
    shards: list[Pieces], lookback: int
) -> None:
    documents = [
        Document(str(number), {"bookmarks": states_of(shard)})
        for number, shard in enumerate(shards)
    ]
    joined = covered_by(
        changes.join(documents, [LEADS], lookback=lookback * HOUR, allow_holes=True)
    )
    for name in LEADS.ranges:
        settled = set()
        for covered in (in_seconds(shard).pieces(name) for shard in shards):
            newest = covered[-1][1] // HOUR if covered else 0
            settled |= inside(covered) & set(range(newest - lookback))
        assert inside(joined.pieces(name)) == settled
