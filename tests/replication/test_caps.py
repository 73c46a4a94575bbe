"""What the ends of queries show about the API."""

import pytest

from tap_leadintent.replication.caps import Caps, Ended, Verdict

PAGE = 100


def ended(
    total: int,
    last: int | None = None,
    *,
    start: int = 0,
    limit: int = PAGE,
) -> Ended:
    if last is None:
        last = total % PAGE or min(total, PAGE)
    return Ended(
        interval=(start, start + 9),
        total=total,
        last=last,
        limit=limit,
    )


@pytest.mark.parametrize(
    ("total", "last", "verdict"),
    [
        pytest.param(0, 0, Verdict.COMPLETE, id="nothing"),
        pytest.param(4, 4, Verdict.COMPLETE, id="few records"),
        pytest.param(63, 63, Verdict.SINGLE_PAGE, id="a page that is not full"),
        pytest.param(100, 100, Verdict.DOUBTFUL, id="a full page"),
        pytest.param(150, 50, Verdict.DOUBTFUL, id="a multiple of fifty"),
        pytest.param(512, 12, Verdict.DOUBTFUL, id="a power of two"),
        pytest.param(333, 33, Verdict.COMPLETE, id="any other number"),
        pytest.param(333, 100, Verdict.DOUBTFUL, id="a full last page"),
        pytest.param(333, 133, Verdict.COMPLETE, id="a page larger than asked for"),
    ],
)
def test_the_end_of_a_query_is_suspicious(
    total: int,
    last: int,
    verdict: Verdict,
) -> None:
    assert Caps(PAGE).judge("x", ended(total, last)) is verdict


def test_a_page_that_is_not_full_is_whole_if_a_larger_one_was_seen() -> None:
    caps = Caps(PAGE)
    caps.note_page(
        total=64,
        records=64,
        previous=0,
        limit=PAGE,
    )
    assert caps.judge("x", ended(63)) is Verdict.COMPLETE
    assert caps.judge("x", ended(64)) is Verdict.SINGLE_PAGE
    caps.note_checked(64)
    assert caps.judge("x", ended(64)) is Verdict.COMPLETE, "in this run"
    assert caps.whole == 63
    assert caps.judge("x", ended(65)) is Verdict.SINGLE_PAGE


def test_a_list_is_not_asked_for_twice_in_each_run() -> None:
    assert Caps(PAGE).judge("", ended(63)) is Verdict.COMPLETE


def test_a_number_that_comes_again_is_suspicious_in_one_range() -> None:
    caps = Caps(PAGE)
    caps.note_end("x", ended(333))
    assert caps.judge("x", ended(333, start=50)) is Verdict.DOUBTFUL
    assert caps.judge("y", ended(333, start=50)) is Verdict.COMPLETE


@pytest.mark.parametrize(
    ("total", "start"),
    [(9, 50), (333, 9)],
)
def test_few_records_or_windows_that_touch_may_have_the_same_number(
    total: int,
    start: int,
) -> None:
    caps = Caps(PAGE, whole=PAGE - 1)
    caps.note_end("x", ended(total))
    assert caps.judge("x", ended(total, start=start)) is Verdict.COMPLETE


def test_a_query_with_more_records_shows_that_a_shorter_one_is_complete() -> None:
    caps = Caps(PAGE)
    caps.note_page(
        total=600,
        records=100,
        previous=100,
        limit=PAGE,
    )
    assert caps.judge("x", ended(500)) is Verdict.COMPLETE
    assert Caps(PAGE).judge("x", ended(500)) is Verdict.DOUBTFUL, "of this run alone"


def test_a_number_that_is_known_is_a_cap_until_a_query_goes_on_beyond_it() -> None:
    caps = Caps(PAGE)
    caps.note_number(500)
    assert caps.judge("x", ended(500)) is Verdict.CAPPED
    caps.note_page(
        total=500,
        records=100,
        previous=100,
        limit=PAGE,
    )
    assert caps.numbers == [500]
    caps.note_page(
        total=501,
        records=1,
        previous=100,
        limit=PAGE,
    )
    assert caps.numbers == []


def test_few_numbers_are_remembered() -> None:
    caps = Caps(PAGE)
    for number in (10, 20, 20, 30, 40):
        caps.note_number(number)
    assert caps.numbers == [20, 30, 40]


def test_what_ended_at_a_number_before_it_was_known_is_suspect() -> None:
    caps = Caps(PAGE)
    caps.note_end("x", ended(333, start=0))
    caps.note_end("x", ended(400, start=50))
    caps.note_end("y", ended(333, start=70))
    caps.note_number(333)
    assert caps.suspects("x") == [(0, 9)]
    assert caps.suspects("y") == [(70, 79)]
    caps.take_suspects("x")
    assert caps.suspects("x") == []
    assert caps.suspects("y") == [(70, 79)]


def test_followed_pages_that_are_all_smaller_tell_the_size_to_ask_for() -> None:
    caps = Caps(PAGE)
    caps.note_end("x", ended(20, 20))
    for previous in (38, 40):
        caps.note_page(
            total=80,
            records=40,
            previous=previous,
            limit=PAGE,
        )
        assert caps.limit == PAGE
    caps.note_page(
        total=120,
        records=30,
        previous=40,
        limit=PAGE,
    )
    assert caps.page == 40
    assert caps.limit == 40
    # What was asked for with more may have ended early, and is read again.
    assert caps.suspects("x") == [(0, 9)]
    assert caps.judge("x", ended(240, 30, start=50)) is Verdict.COMPLETE
    caps.note_end("x", ended(240, 30, start=50))
    assert caps.suspects("x") == [(0, 9), (50, 59)]
    caps.note_page(
        total=70,
        records=20,
        previous=50,
        limit=PAGE,
    )
    assert caps.page == 50


def test_one_followed_page_is_enough_if_a_query_ends_with_as_many_records() -> None:
    caps = Caps(PAGE)
    assert caps.judge("x", ended(90, 50)) is Verdict.COMPLETE
    caps.note_end("x", ended(90, 50))
    caps.note_page(
        total=90,
        records=40,
        previous=50,
        limit=PAGE,
    )
    assert caps.page == 50
    assert caps.suspects("x") == [(0, 9)]
    other = Caps(PAGE)
    other.note_page(
        total=90,
        records=40,
        previous=50,
        limit=PAGE,
    )
    assert other.page == 0
    assert other.judge("x", ended(90, 50)) is Verdict.COMPLETE
    assert other.page == 50


def test_a_query_in_larger_pages_shows_nothing_of_one_in_smaller_pages() -> None:
    caps = Caps(PAGE)
    caps.note_page(
        total=480,
        records=48,
        previous=0,
        limit=PAGE,
    )
    caps.note_small(48)
    caps.note_page(
        total=480,
        records=48,
        previous=48,
        limit=PAGE,
    )
    assert caps.judge("x", ended(240, 48, limit=48)) is Verdict.DOUBTFUL


def test_a_list_that_ends_with_a_page_of_that_size_may_lack_records() -> None:
    """It is not read again in the run."""
    caps = Caps(PAGE)
    for total in (80, 120, 160):
        caps.note_page(
            total=total,
            records=40,
            previous=40,
            limit=PAGE,
        )
    assert caps.judge("", ended(160, 40)) is Verdict.CAPPED
    assert caps.judge("", ended(151, 31)) is Verdict.COMPLETE


def test_a_smaller_setting_is_what_is_asked_for() -> None:
    assert Caps(20, page=50).limit == 20
    assert Caps(PAGE, page=50).limit == 50


def test_full_pages_are_the_size_that_was_asked_for() -> None:
    caps = Caps(PAGE)
    for total in (200, 300, 400, 500):
        caps.note_page(
            total=total,
            records=100,
            previous=100,
            limit=PAGE,
        )
    assert caps.page == 0


def test_small_pages_that_only_an_empty_one_follows_say_nothing() -> None:
    caps = Caps(PAGE)
    for _ in range(9):
        caps.note_page(
            total=10,
            records=10,
            previous=0,
            limit=PAGE,
        )
        caps.note_page(
            total=10,
            records=0,
            previous=10,
            limit=PAGE,
        )
    assert caps.page == 0


def test_pages_that_were_asked_for_in_a_smaller_size_say_nothing() -> None:
    """A question asks so; otherwise its own size would be taken for the API's."""
    caps = Caps(PAGE)
    for total in (74, 111, 148):
        caps.note_page(
            total=total,
            records=37,
            previous=37,
            limit=37,
        )
    assert caps.limit == PAGE
