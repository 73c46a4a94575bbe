"""What holds of every state that is joined or forgotten, in hours of a few days."""

import re
from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.intervals import Interval, union
from tap_leadintent.replication.plan import Scope, make_plan
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool import states
from tap_leadintent.state_tool.document import StateError
from tap_leadintent.times import format_instant, parse_instant
from tests.support.states import HERE

Pieces = list[tuple[str, tuple[int, int]]]

HOUR = 3600
SPAN = 40
RANGES = states.RANGES["leads"]
SOURCE = Source(HERE, "")

hours = st.integers(0, SPAN)
stretches = st.tuples(hours, hours).map(lambda drawn: (min(drawn), max(drawn)))
coverages = st.lists(
    st.tuples(st.sampled_from(RANGES), stretches), min_size=1, max_size=6
)


def in_seconds(pieces: Pieces) -> Coverage:
    return Coverage((name, (a * HOUR, b * HOUR)) for name, (a, b) in pieces)


def state_of(pieces: Pieces) -> dict[str, Any]:
    return {"coverage": Bookmark(SOURCE, in_seconds(pieces)).to_state()}


def covered_by(state: dict[str, Any]) -> Coverage:
    return Bookmark.read(state, SOURCE).coverage


def inside(stretches: Iterable[Interval]) -> set[int]:
    """Give the hours that stretches hold."""
    return {
        hour for a, b in stretches for hour in range(-(-a // HOUR), b // HOUR) if a <= b
    }


@given(coverages, stretches, st.none() | hours, hours)
def test_what_is_forgotten_is_read_again(
    pieces: Pieces, stretch: tuple[int, int], start: int | None, lookback: int
) -> None:
    whole = covered_by(state_of(pieces))
    gone = {name: inside(whole.pieces(name)) & {*range(*stretch)} for name in RANGES}
    begun, ended = (hour * HOUR for hour in stretch)
    try:
        left = covered_by(states.forget(state_of(pieces), "leads", (begun, ended)))
    except StateError:
        assert not any(gone.values())
        return
    since = None if start is None else start * HOUR
    asked = Scope(ranges=RANGES, start=since, lookback=lookback * HOUR)
    steps = make_plan(asked, left, SPAN * HOUR).steps
    for name in RANGES:
        assert inside(left.pieces(name)) == inside(whole.pieces(name)) - gone[name]
        read = inside(cut for s in steps if name in s.covers for cut in s.stretches)
        assert {hour for hour in gone[name] if hour >= (start or 0)} <= read


@given(coverages, hours, hours, st.none() | st.just(3))
def test_each_stretch_of_a_plan_is_told_once(
    pieces: Pieces, start: int, lookback: int, recheck: int | None
) -> None:
    config = {
        "base_url": HERE,
        "filters": {},
        "start_date": format_instant(start * HOUR),
        "lookback_minutes": lookback * 60,
        "recheck_days": recheck,
    }
    asked = Scope.of(config, RANGES)
    steps = make_plan(asked, in_seconds(pieces), SPAN * HOUR).steps
    lines = [*states.describe_plan("leads", config, state_of(pieces), SPAN * HOUR)]
    for name in RANGES:
        told = re.findall(rf"  {name} from (\S+) to (\S+):", "\n".join(lines))
        said = [(parse_instant(start), parse_instant(end)) for start, end in told]
        read = [cut for s in steps if s.name == name for cut in s.stretches]
        assert union(said) == union(read)
        assert sum(b - a for a, b in said) == sum(b - a for a, b in read)


@given(st.lists(coverages, min_size=1, max_size=4), hours)
def test_shards_joined_cover_what_each_has_settled(
    shards: list[Pieces], lookback: int
) -> None:
    said = [{"leads": state_of(shard)} for shard in shards]
    joined = states.join(said, None, None, lookback=lookback * HOUR, allow_holes=True)
    for name in RANGES:
        settled = set()
        for covered in (in_seconds(shard).pieces(name) for shard in shards):
            newest = covered[-1][1] // HOUR if covered else 0
            settled |= inside(covered) & set(range(newest - lookback))
        assert inside(covered_by(joined["leads"]).pieces(name)) == settled
