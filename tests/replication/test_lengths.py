"""How long windows are, and how many are read at once, follows from what was completed.

A window of a range has 26 pages at most, as long as no run ends too early.
"""

import pytest

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.lengths import Lengths


def lengths(
    most_pages: int | None,
    *,
    readers: int = 8,
    budget: int | None = None,
) -> Lengths:
    """Return the lengths of a run after one that has left so many pages."""
    bookmark = Bookmark.read([], page_size=100)
    if most_pages:
        bookmark.most_pages["found"] = most_pages
    return Lengths(
        bookmark=bookmark,
        readers=readers,
        budget=budget,
    )


@pytest.mark.parametrize(
    ("most_pages", "readers", "budget", "expected"),
    [
        pytest.param(None, 32, None, (32, 26), id="usual"),
        pytest.param(13, 32, None, (13, 13), id="short"),
        pytest.param(4, 32, None, (4, 4), id="shorter"),
        pytest.param(1, 32, None, (1, 1), id="shortest"),
        pytest.param(13, 8, None, (8, 13), id="few readers"),
        pytest.param(None, 32, 1_000, (3, 26), id="large budget"),
        pytest.param(None, 32, 60, (3, 10), id="budget"),
        pytest.param(None, 32, 20, (1, 10), id="small budget"),
        pytest.param(None, 32, 1, (1, 1), id="smallest budget"),
        pytest.param(4, 32, 60, (1, 4), id="short with a budget"),
    ],
)
def test_so_many_windows_of_so_many_pages_are_begun_together(
    most_pages: int | None,
    readers: int,
    budget: int | None,
    expected: tuple[int, int],
) -> None:
    chosen = lengths(
        most_pages,
        readers=readers,
        budget=budget,
    )
    assert chosen.bounds("found") == expected


@pytest.mark.parametrize(
    ("most_pages", "emitted", "expected"),
    [
        (None, 0, 8),
        (4, 0, 4),
        (4, 19, 4),
        (4, 20, 5),
        (4, 999, 8),
    ],
)
def test_more_readers_take_short_windows_as_more_is_emitted(
    most_pages: int | None,
    emitted: int,
    expected: int,
) -> None:
    chosen = lengths(most_pages)
    for _ in range(emitted):
        chosen.note_page("found")
    assert chosen.readers_now("found") == expected


def test_a_budget_lets_no_more_readers_take_them_however_much_is_emitted() -> None:
    """The requests that are left would not do for more windows that are begun."""
    chosen = lengths(
        None,
        readers=32,
        budget=60,
    )
    for _ in range(999):
        chosen.note_page("found")
    assert chosen.readers_now("found") == 3


@pytest.mark.parametrize(
    ("most_pages", "emitted", "expected"),
    [
        pytest.param(None, 63, 13, id="usual, too little"),
        pytest.param(None, 64, None, id="usual, enough"),
        pytest.param(4, 7, 2, id="short, too little"),
        pytest.param(4, 8, 4, id="short, enough"),
        pytest.param(4, 32, 8, id="short, enough for longer ones"),
        pytest.param(13, 999, 13, id="never as long as usual"),
        pytest.param(1, 0, 1, id="never less than a page"),
    ],
)
def test_the_next_run_has_other_windows(
    most_pages: int | None,
    emitted: int,
    expected: int | None,
) -> None:
    chosen = lengths(most_pages)
    chosen.note_begin("found")
    for _ in range(emitted):
        chosen.note_page("found")
    chosen.note_completed("found")
    assert chosen.bookmark.most_pages.get("found") == expected


def test_a_range_that_is_read_to_its_end_has_usual_windows_again() -> None:
    chosen = lengths(4)
    chosen.note_begin("found")
    chosen.note_end("found")
    assert chosen.bookmark.most_pages == {}


def test_a_range_that_returns_nothing_has_the_same_windows() -> None:
    chosen = lengths(4)
    chosen.note_begin("found")
    chosen.note_nothing("found")
    assert chosen.bookmark.most_pages == {"found": 4}
