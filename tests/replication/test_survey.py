"""Which windows are asked for a few pages where too little is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.density import Stretch
from tap_leadintent.replication.survey import Piece, pieces, probes
from tests.support.histories import DAY, YEAR


def test_a_quiet_stretch_is_surveyed_as_a_whole_for_one_page() -> None:
    assert probes(5, YEAR, quiet=True) == [Piece(5, YEAR, 1)]


def test_a_short_stretch_is_surveyed_as_a_whole_for_a_window_of_pages() -> None:
    assert probes(5, 29 * DAY, quiet=False) == [Piece(5, 29 * DAY, 4)]


def test_a_long_stretch_gets_eight_probes_from_end_to_end() -> None:
    eight = probes(0, YEAR, quiet=False)
    assert len(eight) == 8
    assert eight[0] == Piece(0, DAY, 2)
    assert eight[-1] == Piece(364 * DAY, YEAR, 2)


@given(st.integers(0, YEAR), st.integers(8, YEAR), st.integers(2, 40))
def test_pieces_cover_what_was_given_up(start: int, seconds: int, amount: int) -> None:
    end = start + seconds
    eight = pieces(start, end, Stretch(start, end, amount))
    assert [piece.start for piece in eight] + [end] == [
        start,
        *(piece.end for piece in eight),
    ]
    lengths = [piece.end - piece.start for piece in eight]
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(("amount", "pages"), [(2, 1), (3, 2), (33, 2)])
def test_a_piece_is_for_fewer_pages_than_the_whole_is_known_to_have(
    amount: int, pages: int
) -> None:
    asked = {piece.pages for piece in pieces(0, DAY, Stretch(0, DAY, amount))}
    assert asked == {pages}
