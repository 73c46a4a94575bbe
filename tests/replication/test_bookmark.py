"""The list in a state: what it says, also where an earlier version has written it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.ignored import Seen
from tap_leadintent.replication.intervals import Coverage, union
from tests.support.helpers import Json

DAY = 86400
INSTANTS = "1970-01-02T00:00:00Z 1970-01-03T00:00:00Z"
PLACE = {"source": "https://api.example.com", "filters": ""}


def entry(**more: Any) -> Json:
    """Return an entry about the second day of 1970."""
    ends = {"from": "1970-01-02T00:00:00Z", "to": "1970-01-03T00:00:00Z"}
    return {
        "range": "date_found",
        **ends,
        **more,
    }


def old(**more: Any) -> Json:
    """Return an entry as an earlier version has written it."""
    return entry(
        **{
            "source": PLACE["source"],
            "key": "89abcdef",
            **more,
        }
    )


parts = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.integers(0, 99),
        st.integers(0, 9),
    )
)


def intervals(drawn: list[tuple[str, int, int]]) -> Coverage:
    coverage: Coverage = {}
    for name, start, n in drawn:
        coverage[name] = union(
            [
                *coverage.get(name, []),
                (start, start + n),
            ]
        )
    return coverage


@given(
    covered=parts,
    left=parts,
    planned=st.none() | st.integers(-DAY, 10**10),
    pages=st.dictionaries(
        st.sampled_from("ab"),
        st.integers(1, 25),
    ),
    numbers=st.lists(
        st.integers(1, 9),
        max_size=3,
        unique=True,
    ),
    page=st.integers(0, 9),
    whole=st.integers(0, 9),
    seen=st.dictionaries(
        st.sampled_from("ab"),
        st.tuples(
            st.integers(0, 2**32 - 1),
            st.integers(0, 2**32 - 1),
            st.tuples(st.integers(0, 99), st.integers(100, 199)),
        ),
    ),
)
def test_a_state_is_read_back_as_it_was_written(  # noqa: PLR0913, PLR0917
    covered: list[tuple[str, int, int]],
    left: list[tuple[str, int, int]],
    planned: int | None,
    pages: dict[str, int],
    numbers: list[int],
    page: int,
    whole: int,
    seen: dict[str, tuple[int, int, tuple[int, int]]],
) -> None:
    bookmark = Bookmark(
        place=PLACE,
        planned=planned,
        coverage=intervals(covered),
        holes=intervals(left),
        most_pages=pages,
        caps=Caps(100, numbers, page, whole),
        seen={name: Seen(*each) for name, each in seen.items()},
    )
    state = json.loads(json.dumps(bookmark.to_state()))
    again = Bookmark.read(state, 100)
    assert again == bookmark
    assert again.to_state() == state


def test_a_state_is_one_short_list_that_people_can_read() -> None:
    bookmark = Bookmark(
        place={
            **PLACE,
            "environment": "prod",
            "schema": "raw",
        },
        planned=2 * DAY,
        coverage={
            "date_found": [(DAY, 2 * DAY)],
            "latest_signal": [(DAY, 2 * DAY)],
        },
        holes={"date_found": [(2 * DAY, 2 * DAY + 60)]},
        caps=Caps(
            100,
            numbers=[500],
            page=50,
            whole=49,
        ),
        seen={"date_found": Seen(7, 2**32 - 1, (DAY, 2 * DAY))},
    )
    state = bookmark.to_state()
    hole = {
        "from": "1970-01-03T00:00:00Z",
        "to": "1970-01-03T00:01:00Z",
        "hole": True,
    }
    assert state == [
        {
            "planned": "1970-01-03T00:00:00Z",
            **PLACE,
            "environment": "prod",
            "schema": "raw",
            "caps": [500],
            "page": 50,
            "whole": 49,
            "seen": {"date_found": f"00000007 ffffffff {INSTANTS}"},
        },
        entry(),
        entry(range="latest_signal"),
        entry(**hole),
    ]
    assert len(json.dumps(state[:3])) < 520


def test_a_bookmark_of_a_new_stream_is_empty() -> None:
    bookmark = Bookmark.read([])
    assert bookmark.is_empty
    assert bookmark.problem is None
    assert bookmark.to_state() == []


# Covering, and taking out


def test_what_is_covered_ends_with_the_run_which_counts_as_planned_then() -> None:
    bookmark = Bookmark(holes={"x": [(3, 4)]})
    assert bookmark.cover("x", (0, 9), until=5)
    assert not bookmark.cover("x", (6, 9), until=5)
    assert bookmark.coverage == {"x": [(0, 5)]}
    assert bookmark.planned == 5
    assert bookmark.holes == {"x": []}


def test_a_window_that_covers_nothing_leaves_the_instant_as_it_was() -> None:
    bookmark = Bookmark(planned=3)
    assert not bookmark.cover("x", (6, 9), until=5)
    assert bookmark.planned == 3


def test_everything_after_an_instant_is_taken_out() -> None:
    bookmark = Bookmark(coverage={"x": [(0, 5), (7, 9)]})
    assert bookmark.take_out("x", 3)
    assert bookmark.coverage == {"x": [(0, 3)]}
    assert not bookmark.take_out("x", 3)


def test_a_hole_is_not_covered_any_more() -> None:
    bookmark = Bookmark(coverage={"x": [(0, 9)]})
    bookmark.add_hole("x", (3, 5))
    assert bookmark.coverage == {"x": [(0, 3), (5, 9)]}
    assert bookmark.holes == {"x": [(3, 5)]}


# The place


@pytest.mark.parametrize(
    ("place", "differing"),
    [
        ({}, []),
        (PLACE, []),
        ({**PLACE, "environment": "prod"}, []),
        ({**PLACE, "filters": "0123456789ab"}, ["filters"]),
        ({"source": "https://x.example.com", "filters": "0"}, ["filters", "source"]),
    ],
)
def test_what_one_of_two_places_does_not_know_does_not_differ(
    place: dict[str, str],
    differing: list[str],
) -> None:
    bookmark = Bookmark(
        place=PLACE,
        coverage={"x": [(0, 9)]},
    )
    assert bookmark.differing(place) == differing


def test_a_state_that_covers_nothing_belongs_to_no_place() -> None:
    assert Bookmark(place=PLACE).differing({"source": "other"}) == []
    planned = Bookmark(place=PLACE, planned=3)
    assert planned.differing({"source": "other"})


# Lists of earlier versions, and damaged ones


@pytest.mark.parametrize(
    ("entries", "planned"),
    [
        ([old()], 2 * DAY),
        ([old(settled=True)], None),
        (
            [
                old(to="1970-01-04T00:00:00Z"),
                old(range="latest_signal"),
            ],
            2 * DAY,
        ),
        (
            [
                old(settled=True),
                old(range="latest_signal"),
            ],
            2 * DAY,
        ),
        (
            [
                old(settled=True),
                old(
                    **{"from": "1970-01-01"},
                    to="1970-01-01",
                ),
            ],
            None,
        ),
        ([old(hole=True)], None),
    ],
)
def test_the_newest_instant_of_an_earlier_list_is_that_of_its_last_run(
    entries: list[Json],
    planned: int | None,
) -> None:
    bookmark = Bookmark.read(entries)
    assert bookmark.problem is None
    assert bookmark.planned == planned
    assert bookmark.place == PLACE


def test_an_earlier_list_is_that_of_its_first_place_alone() -> None:
    entries = [
        old(
            longest=300,
            page=50,
        ),
        old(
            range="latest_signal",
            filters="0123456789ab",
        ),
        old(source="https://api.example.org"),
        {"rechecked": "1970-01-02T00:00:00Z"},
    ]
    bookmark = Bookmark.read(entries)
    assert bookmark.coverage == {"date_found": [(DAY, 2 * DAY)]}
    assert bookmark.caps == Caps(0)


def test_an_earlier_list_without_a_source_belongs_to_any_place() -> None:
    bookmark = Bookmark.read([entry()])
    assert bookmark.coverage == {"date_found": [(DAY, 2 * DAY)]}
    assert bookmark.place == {}


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        (None, "array"),
        ([7], "object"),
        ([{"range": "date_found"}], "from"),
        ([entry() | {"to": "x"}], "x"),
        ([{"planned": 5}], "str"),
        ([{"planned": "x"}], "x"),
        ([{"most_pages": {"x": "many"}}], "int"),
        ([{"most_pages": {"x": 0}}], "int"),
        ([{"seen": []}], "object"),
        ([{"seen": {"date_found": 5}}], "str"),
        ([{"seen": {"date_found": f"x 5 {INSTANTS}"}}], "x"),
        ([{"seen": {"date_found": f"5 {INSTANTS}"}}], "unpack"),
        ([{"seen": {"date_found": "5 5 x x"}}], "x"),
    ],
    ids=str,
)
def test_a_malformed_list_covers_nothing(entries: object, reason: str) -> None:
    bookmark = Bookmark.read(entries)
    assert reason in (bookmark.problem or "")
    assert bookmark.is_empty
