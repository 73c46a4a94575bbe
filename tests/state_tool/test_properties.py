"""What `forget` promises, for random states of a few days."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.plan import Scope, make_plan
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool import changes
from tap_leadintent.state_tool.bookmarks import RANGES as ALL_RANGES
from tap_leadintent.state_tool.document import StateError
from tests.support.states import HERE

Pieces = list[tuple[str, tuple[int, int]]]

HOUR = 3600
SPAN = 40
RANGES = ALL_RANGES["leads"]
SOURCE = Source(HERE, "")

hours = st.integers(0, SPAN)
intervals = st.tuples(hours, hours).map(lambda drawn: (min(drawn), max(drawn)))
coverages = st.lists(
    st.tuples(st.sampled_from(RANGES), intervals), min_size=1, max_size=6
)


def in_seconds(pieces: Pieces) -> Coverage:
    return Coverage((name, (a * HOUR, b * HOUR)) for name, (a, b) in pieces)


def state_of(pieces: Pieces) -> dict[str, Any]:
    return {"coverage": Bookmark(SOURCE, in_seconds(pieces)).to_state()}


def covered_by(state: dict[str, Any]) -> Coverage:
    return Bookmark.read(state, SOURCE).coverage


def hours_in(intervals: Iterable[Interval]) -> set[int]:
    """Return the complete hours inside intervals."""
    return {
        hour for a, b in intervals for hour in range(-(-a // HOUR), b // HOUR) if a <= b
    }


@given(coverages, intervals, st.none() | hours, hours)
def test_what_is_forgotten_is_read_again(
    pieces: Pieces, interval: tuple[int, int], start: int | None, lookback: int
) -> None:
    before = covered_by(state_of(pieces))
    forgotten = {
        name: hours_in(before.of_range(name)) & {*range(*interval)} for name in RANGES
    }
    begun, ended = (hour * HOUR for hour in interval)
    try:
        after = covered_by(changes.forget(state_of(pieces), "leads", (begun, ended)))
    except StateError:
        assert not any(forgotten.values())
        return
    since = None if start is None else start * HOUR
    asked = Scope(ranges=RANGES, start=since, lookback=lookback * HOUR)
    steps = make_plan(asked, after, SPAN * HOUR).steps
    for name in RANGES:
        remaining = hours_in(before.of_range(name)) - forgotten[name]
        assert hours_in(after.of_range(name)) == remaining
        read = hours_in(cut for s in steps if name in s.covers for cut in s.intervals)
        assert {hour for hour in forgotten[name] if hour >= (start or 0)} <= read
