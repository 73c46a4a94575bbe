"""Replication reads an API of another shape: GET, page numbers, seconds as times."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count
from os import urandom
from threading import Barrier, Event, Lock
from time import sleep
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.intervals import Interval, overlap
from tap_leadintent.replication.plan import Scope
from tap_leadintent.replication.protocol import CutError, IgnoredRangeError
from tap_leadintent.replication.run import ReplicationRun
from tap_leadintent.times import format_instant, parse_instant
from tests.support.helpers import Json

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")

DAY = 86_400

State = Json
"""What a run leaves to the next one."""


@dataclass(frozen=True)
class BookPage:
    """A response such as `{"books": [1, 5], "pages": 3}`."""

    body: bytes
    number: int = 1

    @property
    def books(self) -> list[int]:
        return [*map(int, json.loads(self.body)["books"])]

    @property
    def records(self) -> int:
        return len(self.books)

    @property
    def fingerprint(self) -> int:
        return hash(tuple(self.books))

    @property
    def ends(self) -> tuple[int, int]:
        return self.books[0], self.books[-1]

    @property
    def has_more(self) -> bool:
        pages: int = json.loads(self.body)["pages"]
        return pages > self.number


@dataclass
class Library:
    """A server whose books are the seconds at which they came."""

    books: list[int]
    """When each came. It is lent a day later, for the first time."""
    broken: range = range(0)
    closes: bool = False
    requests: int = 0

    def get(self, url: str) -> bytes:
        """Respond to `GET /books?by=…&since=…&until=…&page=…`."""
        self.requests += 1
        fields = dict(parse_qsl(url.partition("?")[2]))
        shift = DAY if fields.pop("by") == "lent" else 0
        asked = {name: int(value) for name, value in fields.items()}
        first = bisect_left(self.books, asked["since"] - shift)
        after = bisect_right(self.books, asked["until"] - shift)
        found = self.books[first:after]
        for book in found:
            if book in self.broken:
                raise OSError("a book is damaged")
        start = 50 * (asked["page"] - 1)
        content = {
            "books": found[start : start + 50],
            "pages": -(-len(found) // 50),
        }
        return json.dumps(content).encode()


@dataclass
class BookQuery:
    """The pages of an interval."""

    library: Library
    by: str
    interval: Interval
    records: int = 0
    number: int = 0

    def fetch(
        self,
        stopped: Event,  # noqa: ARG002
        max_retries: float,  # noqa: ARG002
    ) -> BookPage:
        """Request the next page; a failure is not repeated."""
        self.number += 1
        since, until = self.interval
        fields = {
            "since": since - 1,
            "until": until,
            "page": self.number,
        }
        url = f"/books?by={self.by}&{urlencode(fields)}"
        try:
            page = BookPage(self.library.get(url), self.number)
        except OSError as error:
            raise CutError(error) from None
        self.records += page.records
        return page


@dataclass
class Books:
    """The endpoint, as `replication.protocol.Api` wants it."""

    library: Library

    def query(
        self,
        range_name: str,
        interval: Interval,
        limit: int,  # noqa: ARG002
    ) -> BookQuery:
        """Begin a query; a page always has 50 books."""
        return BookQuery(self.library, range_name, interval)

    def parse(self, body: bytes) -> BookPage:
        """Return the page of a body; that more follow was known before."""
        return BookPage(body)

    def raise_if_interrupted(self) -> None:
        """Raise if the library closes."""
        if self.library.closes:
            raise SystemExit


def read(  # noqa: PLR0913 - the bounds of a run
    library: Library,
    state: State,
    now: int,
    ranges: Sequence[str] = ("came",),
    *,
    readers: int = 32,
    budget: int | None = None,
    has_strays: bool = False,
    may_be_too_new: Callable[[BaseException | None], bool] = bool,
    complete_to: Callable[[], int] | None = None,
    bookmarks: list[Bookmark] | None = None,
) -> Iterator[int]:
    """Run once, and commit each window into the state."""
    bookmark = Bookmark.read(state.get("coverage", []), page_size=50)
    if bookmarks is not None:
        bookmarks.append(bookmark)

    def save() -> None:
        state["coverage"] = bookmark.to_state()

    replication = ReplicationRun(
        api=Books(library),
        bookmark=bookmark,
        scope=Scope(
            ranges=ranges,
            start=0,
            lookback=DAY,
        ),
        now=now,
        complete_to=complete_to or (lambda: now),
        save=save,
        readers=readers,
        at_once=lambda: 32,
        widest=30 * DAY,
        budget=budget,
        has_strays=lambda _: has_strays,
        may_be_too_new=may_be_too_new,
    )
    replication.begin()
    with closing(replication.passes()) as passes:
        for name in passes:
            for item in replication.read(name):
                if item.page:
                    yield from item.page.books
                if item.is_last:
                    replication.commit(name, item)
    save()


def intervals(state: State) -> list[tuple[str, str, str]]:
    """Return what a state covers, each interval with its range."""
    entries = [entry for entry in state["coverage"] if "range" in entry]
    return [(entry["range"], entry["from"], entry["to"]) for entry in entries]


def test_a_history_and_what_comes_later_are_read_in_order() -> None:
    library = Library([*range(0, 90 * DAY, 600)])
    state: State = {}
    first = [*read(library, state, 90 * DAY)]
    assert sorted({*first}) == library.books
    assert first == sorted(first), "oldest first; one second is read twice"
    assert library.requests <= 1.5 * len(library.books) / 50
    library.books += [90 * DAY + 7]
    library.requests = 0
    later = [*read(library, state, 90 * DAY + 3600)]
    assert library.books[-1] in later
    assert library.requests <= 2
    assert intervals(state) == [
        ("came", "1970-01-01T00:00:00Z", "1970-04-01T01:00:00Z")
    ]


def test_what_the_first_range_reads_late_makes_the_second_one_read_again() -> None:
    """A part of the first range is missing; a page fails, then it can be read."""
    both = ("came", "lent")
    library = Library([*range(0, 20 * DAY, 600)])
    state: State = {}
    library.broken = range(5 * DAY, 5 * DAY + 1)
    found = {*read(library, state, 20 * DAY, both)}
    assert {*library.books} - found == {5 * DAY}
    library.broken = range(0)
    again = [*read(library, state, 20 * DAY + 60, both)]
    assert 5 * DAY in again
    lent = {book for book in library.books if book + DAY < 20 * DAY}
    assert lent <= {*again}, "all are lent after what was missing"
    assert [name for name, *_ in intervals(state)] == [*both]


def test_what_follows_a_gap_of_the_second_range_is_read_again() -> None:
    library = Library([*range(0, 20 * DAY, 600)])
    state: State = {}
    both = ("came", "lent")
    list(read(library, state, 20 * DAY, both))
    *others, lent = state["coverage"]
    parts = [
        {**lent, "to": format_instant(5 * DAY)},
        {
            **lent,
            "from": format_instant(6 * DAY),
            "to": format_instant(10 * DAY),
        },
        {**lent, "from": format_instant(11 * DAY)},
    ]
    state["coverage"] = [*others, *parts]
    found = {*read(library, state, 20 * DAY + 60, both)}
    after = {book for book in library.books if 5 * DAY <= book + DAY < 20 * DAY}
    assert after <= found
    assert [name for name, *_ in intervals(state)] == [*both]


def test_all_ranges_end_at_one_instant() -> None:
    """A clock of the library that is behind goes on while it is read."""
    library = Library([*range(0, 20 * DAY, 600)])
    state: State = {}
    minutes = count(20 * DAY - 3600, 60)
    found = read(
        library,
        state,
        20 * DAY,
        ("came", "lent"),
        complete_to=lambda: next(minutes),
    )
    assert {*found} == {*library.books}
    (_, _, came_to), (_, _, lent_to) = intervals(state)
    assert state["coverage"][0]["planned"] == lent_to
    # The minute is that of the moment between the two.
    assert parse_instant(lent_to) - parse_instant(came_to) == 60


def test_what_is_damaged_is_a_hole_until_it_is_mended() -> None:
    library = Library([*range(0, 9 * DAY, 600)])
    state: State = {}
    library.broken = range(5 * DAY, 5 * DAY + 1)
    found = {*read(library, state, 9 * DAY)}
    assert {*library.books} - found == {5 * DAY}
    assert [entry for entry in state["coverage"] if "hole" in entry]
    library.broken = range(0)
    again = [*read(library, state, 9 * DAY + 60)]
    assert 5 * DAY in again
    assert len(intervals(state)) == 1


@dataclass
class SlowLibrary(Library):
    """Its 20th response waits until 120 later ones have come."""

    shelf: Callable[[], str] = str
    """Makes the text that fills each response."""
    numbers: Iterator[int] = field(default_factory=count)
    patience: float = 10
    """For how many seconds it waits."""
    later: int = 0
    has_come: Event = field(default_factory=Event)

    def get(self, url: str) -> bytes:
        """Respond with a large body."""
        body = super().get(url)
        number = next(self.numbers)
        if number == 20:
            self.has_come.wait(self.patience)
            self.has_come.set()
        elif number > 20 and not self.has_come.is_set():
            self.later = number - 20
            if self.later == 120:
                self.has_come.set()
        return body.replace(
            b"{",
            f'{{"shelf": "{self.shelf()}", '.encode(),
            1,
        )


@pytest.mark.parametrize("is_compressible", [True, False])
def test_what_waits_takes_little_memory(*, is_compressible: bool) -> None:
    def shelf() -> str:
        return "0" * 300_000 if is_compressible else urandom(300_000).hex()

    patience = 10 if is_compressible else 2
    books = [*range(0, 60 * DAY, 600)]
    library = SlowLibrary(
        books,
        shelf=shelf,
        patience=patience,
    )
    found = {*read(library, {}, 60 * DAY)}
    assert found == {*books}
    if is_compressible:
        assert library.later == 120
    else:
        # Half of such a random body remains when it is compressed.
        assert library.later < 80


@dataclass
class AskedInOrder(Library):
    """It notes by what it is asked, and may wait with what came last."""

    asked: list[str] = field(default_factory=list)
    patience: float = 0
    """For how many seconds the newest books wait until it is asked for what was lent.
    """
    breaks: str = ""
    """It fails at all requests by this."""
    is_asked_for_lent: Event = field(default_factory=Event)

    def get(self, url: str) -> bytes:
        """Respond, or fail for good."""
        fields = dict(parse_qsl(url.partition("?")[2]))
        by = fields["by"]
        self.asked.append(by)
        if by == self.breaks:
            raise LookupError(by)
        if by == "lent":
            self.is_asked_for_lent.set()
        elif int(fields["until"]) == 90 * DAY and int(fields["page"]) > 1:
            self.is_asked_for_lent.wait(self.patience)
        return super().get(url)


def test_free_readers_begin_with_the_next_range() -> None:
    library = AskedInOrder([*range(0, 90 * DAY, 600)], patience=60)
    found = [*read(library, {}, 90 * DAY, ("came", "lent"))]
    assert library.is_asked_for_lent.is_set()
    assert library.asked != sorted(library.asked)
    newest = found.index(library.books[-1])
    assert found[: newest + 1] == sorted(found[: newest + 1])
    assert {*found[: newest + 1]} == {*library.books}, "in order, as without it"
    assert library.requests <= 1.5 * 2 * len(library.books) / 50


@pytest.mark.parametrize(
    ("readers", "budget", "most_pages"),
    [
        (1, None, None),
        (32, 5_000, None),
        (32, None, 13),
    ],
    ids=["one reader", "a budget", "the last run has completed nothing"],
)
def test_a_range_begins_after_the_last_one(
    readers: int,
    budget: int | None,
    most_pages: int | None,
) -> None:
    """With one reader, and in a run that may end before it has read all."""
    library = AskedInOrder([*range(0, 90 * DAY, 600)])
    head = {"most_pages": {"came": most_pages}}
    state = {"coverage": [head] if most_pages else []}
    both = ("came", "lent")
    found = {
        *read(
            library,
            state,
            90 * DAY,
            both,
            readers=readers,
            budget=budget,
        )
    }
    assert found == {*library.books}
    assert library.asked == sorted(library.asked)


@dataclass
class Meeting(Library):
    """Eight of its responses come only if they are asked for at once."""

    number: Iterator[int] = field(default_factory=count)
    barrier: Barrier = field(default_factory=lambda: Barrier(8, timeout=60))

    def get(self, url: str) -> bytes:
        """Respond."""
        if 100 <= next(self.number) < 108:
            self.barrier.wait()
        return super().get(url)


def test_short_windows_are_read_by_more_readers_as_more_is_safe() -> None:
    """Early ends do not slow down a run that is not ended early."""
    library = Meeting([*range(0, 90 * DAY, 600)])
    head = {"most_pages": {"came": 1}, "pages_per_year": {"came": 1_051}}
    run = read(library, {"coverage": [head]}, 90 * DAY, readers=8)
    assert {*run} == {*library.books}


@dataclass
class Ending(Library):
    """It fails for good after so many requests by one of its times."""

    by: str = "came"
    left: int = 0

    def get(self, url: str) -> bytes:
        """Respond, or fail."""
        fields = dict(parse_qsl(url.partition("?")[2]))
        if fields["by"] == self.by:
            if not self.left:
                raise LookupError(url)
            self.left -= 1
        return super().get(url)


def most_pages_after(
    library: Library,
    before: dict[str, int],
    ranges: Sequence[str] = ("came",),
    **how: Any,
) -> dict[str, int]:
    """Run once, also if the run ends early.

    Args:
        library: The API.
        before: The most pages of a window in the state, for each range.
        ranges: The ranges that are read.
        how: What else `read` takes.

    Returns:
        The most pages of a window in the new state, for each range.
    """
    head = {"pages_per_year": {"came": 1_051, "lent": 1_051}}
    if before:
        head["most_pages"] = before
    state: State = {"coverage": [head]}
    with suppress(LookupError):
        list(read(library, state, 90 * DAY, ranges, **how))
    after: dict[str, int] = state["coverage"][0].get("most_pages", {})
    return after


@pytest.mark.parametrize(
    ("by", "requests", "before", "after"),
    [
        pytest.param("came", 3, {}, {"came": 13}, id="nothing is completed"),
        pytest.param("came", 3, {"came": 13}, {"came": 6}, id="nothing again"),
        pytest.param("came", 0, {"came": 1}, {"came": 1}, id="nothing is read"),
        pytest.param("came", 1, {"came": 1}, {"came": 1}, id="at least a page"),
        pytest.param("came", 2, {"came": 1}, {"came": 1}, id="one is completed"),
        pytest.param("came", 3, {"came": 1}, {"came": 2}, id="some are completed"),
        pytest.param("came", 3, {"came": 6}, {"came": 6}, id="one has half of it"),
        pytest.param("came", 9, {"came": 20}, {"came": 20}, id="one holds eight pages"),
        pytest.param("came", 60, {"came": 10}, {"came": 13}, id="many"),
        pytest.param("came", 90, {"came": 20}, {"came": 20}, id="long ones"),
        pytest.param("came", 90, {}, {}, id="usual ones"),
        pytest.param("came", 3, {"lent": 6}, {"came": 13, "lent": 6}, id="one range"),
        pytest.param("lent", 3, {"lent": 13}, {"lent": 6}, id="the other range"),
        pytest.param("lent", 12, {"lent": 6}, {"lent": 6}, id="each counts for itself"),
        pytest.param("lent", 0, {}, {}, id="nothing is read of the other"),
        pytest.param("lent", 10**6, {"came": 1, "lent": 6}, {}, id="all is read"),
    ],
)
def test_how_many_pages_a_window_of_the_next_run_may_have(
    by: str,
    requests: int,
    before: dict[str, int],
    after: dict[str, int],
) -> None:
    """Short ones are for a range of which a run has completed too little."""
    library = Ending(
        [*range(0, 90 * DAY, 600)],
        by=by,
        left=requests,
    )
    assert most_pages_after(library, before, ("came", "lent"), readers=1) == after


def test_windows_grow_only_if_every_reader_can_complete_a_longer_one() -> None:
    """One reader has read enough for it, but four need more."""
    library = Ending(
        [*range(0, 90 * DAY, 600)],
        left=40,
    )
    assert most_pages_after(library, {"came": 6}, readers=4)["came"] <= 6


@pytest.mark.parametrize(
    ("requests", "before", "after"),
    [
        pytest.param(5, 1, 2, id="there is one reader"),
        pytest.param(11, 6, 3, id="there are four readers"),
    ],
)
def test_there_are_no_more_readers_than_pages_of_a_short_window(
    requests: int,
    before: int,
    after: int,
) -> None:
    """Each of them must be able to complete a window."""
    library = Ending(
        [*range(0, 90 * DAY, 600)],
        left=requests,
    )
    found = most_pages_after(library, {"came": before}, readers=4)
    assert found == {"came": after}


def test_a_budget_shortens_the_windows_of_its_run_alone() -> None:
    """A run that completes one of them need not be shortened further."""
    library = Ending(
        [*range(0, 90 * DAY, 600)],
        left=6,
    )
    found = most_pages_after(library, {"came": 13}, readers=1, budget=20)
    assert found == {"came": 13}


def test_a_run_that_is_killed_has_kept_how_dense_records_are() -> None:
    bookmarks: list[Bookmark] = []
    books = read(
        Library([*range(0, 90 * DAY, 600)]),
        {},
        90 * DAY,
        readers=1,
        bookmarks=bookmarks,
    )
    with closing(books):  # type: ignore[type-var]
        next(books)
        (bookmark,) = bookmarks
        while not bookmark.coverage:
            next(books)
        assert bookmark.pages_per_year["came"] > 0


def test_a_range_that_fails_keeps_nothing_of_the_last_one_back() -> None:
    library = AskedInOrder([*range(0, 90 * DAY, 600)], breaks="lent")
    state: State = {}
    found: list[int] = []
    with pytest.raises(LookupError):
        found.extend(read(library, state, 90 * DAY, ("came", "lent")))
    assert {*found} == {*library.books}


def test_a_signal_between_two_ranges_ends_what_was_begun_early() -> None:
    library = AskedInOrder([*range(0, 90 * DAY, 600)], patience=60)
    run = read(library, {}, 90 * DAY, ("came", "lent"))
    for book in run:
        library.closes = book == library.books[-1]
        if library.closes:
            break
    with pytest.raises(SystemExit):
        next(run)


def test_a_repeat_that_fails_ends_what_was_begun_early() -> None:
    """What was found to be incomplete of the first range fails in the second go."""
    library = AskedInOrder([*range(0, 90 * DAY, 600)], patience=60)
    bookmarks: list[Bookmark] = []
    run = read(
        library,
        {},
        90 * DAY,
        ("came", "lent"),
        bookmarks=bookmarks,
    )
    for book in run:
        if book == library.books[-1]:
            library.breaks = "came"
            bookmarks[0].caps.note_suspect("came", (0, DAY))
            break
    with pytest.raises(LookupError, match="came"):
        list(run)


@dataclass
class ForgetfulLibrary(AskedInOrder):
    """It ignores by when books were lent, and waits with the newest until a doubt."""

    is_doubted: Event = field(default_factory=Event)

    def get(self, url: str) -> bytes:
        """Respond to any request."""
        fields = dict(parse_qsl(url.partition("?")[2]))
        until = int(fields["until"])
        if fields["by"] == "lent":
            if until > 300 * DAY:
                self.is_doubted.set()
            content = {"books": self.books[:9], "pages": 1}
            return json.dumps(content).encode()
        body = super().get(url)
        if until == 90 * DAY and int(fields["page"]) > 1:
            self.is_doubted.wait(60)
            # The answer to the question comes first.
            sleep(0.2)
        return body


def test_a_range_that_is_ignored_keeps_nothing_of_the_last_one_back() -> None:
    library = ForgetfulLibrary([*range(0, 90 * DAY, 600)])
    found: list[int] = []
    with pytest.raises(IgnoredRangeError, match="lent"):
        found.extend(read(library, {}, 90 * DAY, ("came", "lent")))
    assert {*found} == {*library.books}


@dataclass
class LateLibrary(AskedInOrder):
    """It cannot return the newest minutes yet, and fails slowly."""

    def get(self, url: str) -> bytes:
        """Respond or fail."""
        fields = dict(parse_qsl(url.partition("?")[2]))
        if int(fields["until"]) > 90 * DAY - 60:
            self.is_asked_for_lent.wait(0.1)
            raise OSError("too new")
        return super().get(url)


def test_nothing_is_read_in_vain_if_the_newest_minutes_cannot_be_read() -> None:
    library = LateLibrary([*range(0, 90 * DAY, 600)])
    has_begun_too_early: list[bool] = []

    def may_be_too_new(_: BaseException | None) -> bool:
        has_begun_too_early.append(library.is_asked_for_lent.wait(0.1))
        return True

    run = read(
        library,
        {},
        90 * DAY,
        ("came", "lent"),
        may_be_too_new=may_be_too_new,
    )
    assert {*run} == {*library.books}
    assert library.asked == sorted(library.asked)
    assert has_begun_too_early == [False]


def test_no_comparison_reaches_into_minutes_that_cannot_be_read() -> None:
    library = LateLibrary([*range(45 * DAY, 90 * DAY, 600)])
    run = read(
        library,
        {},
        90 * DAY,
        readers=1,
        may_be_too_new=lambda _: True,
    )
    assert [*run] == library.books


@dataclass
class CountedLibrary(AskedInOrder):
    """It counts how many ask at once, and lets those wait who ask for what was lent."""

    asking: int = 0
    most: int = 0
    is_asked_again: Event = field(default_factory=Event)
    repeats: bool = False
    lock: Lock = field(default_factory=Lock)

    def get(self, url: str) -> bytes:
        """Count the request, and respond."""
        with self.lock:
            self.asking += 1
            self.most = max(self.most, self.asking)
        if "by=lent" in url:
            self.is_asked_again.wait(1)
            self.is_asked_again.set()
        elif self.repeats:
            self.is_asked_again.set()
        body = super().get(url)
        with self.lock:
            self.asking -= 1
        return body


def test_a_repeat_sends_no_more_requests_at_once() -> None:
    library = CountedLibrary([*range(0, 90 * DAY, 600)], patience=60)
    bookmarks: list[Bookmark] = []
    run = read(
        library,
        {},
        90 * DAY,
        ("came", "lent"),
        readers=4,
        bookmarks=bookmarks,
    )
    for book in run:
        if book == library.books[-1]:
            library.repeats = True
            bookmarks[0].caps.note_suspect("came", (0, DAY))
            break
    assert {*run} >= {*range(0, DAY, 600)}
    assert library.most == 4


def test_what_may_lack_records_is_never_covered_by_a_state() -> None:
    """The run may be killed before it reads that again."""
    library = Library([*range(0, 90 * DAY, 600)])
    bookmarks: list[Bookmark] = []
    run = read(library, {}, 90 * DAY, bookmarks=bookmarks)
    suspect = (0, DAY)
    for book in run:
        if not bookmarks[0].coverage.get("came"):
            continue
        if book < 60 * DAY:
            bookmarks[0].caps.note_suspect("came", suspect)
        else:
            covered = bookmarks[0].coverage["came"]
            assert covered
            assert not overlap(covered, suspect)
            break
    assert {*range(0, DAY, 600)} <= {*run}


def test_what_a_later_range_shows_of_the_first_one_is_read_again() -> None:
    library = AskedInOrder([*range(0, 20 * DAY, 600)])
    bookmarks: list[Bookmark] = []
    run = read(
        library,
        {},
        20 * DAY,
        ("came", "lent"),
        readers=1,
        bookmarks=bookmarks,
    )
    for book in run:
        if book == library.books[-1]:
            break
    next(run)
    assert library.asked[-1] == "lent"
    library.asked.clear()
    bookmarks[0].caps.note_suspect("came", (0, DAY))
    assert {*range(0, DAY, 600)} <= {*run}
    assert "came" in library.asked
    assert bookmarks[0].coverage == {
        "came": [(0, 20 * DAY)],
        "lent": [(0, 20 * DAY)],
    }


@dataclass
class CarelessLibrary(Library):
    """It returns all books, whatever it is asked; what was lent, after a doubt."""

    is_doubted: Event = field(default_factory=Event)

    def get(self, url: str) -> bytes:
        """Respond to any request."""
        fields = dict(parse_qsl(url.partition("?")[2]))
        if fields["by"] == "lent":
            self.is_doubted.wait(60)
        elif int(fields["until"]) > 300 * DAY:
            self.is_doubted.set()
        content = {"books": self.books, "pages": 1}
        return json.dumps(content).encode()


def test_an_ignored_range_ends_what_was_begun_early() -> None:
    books = [*range(0, 20 * DAY, DAY)]
    state: State = {}
    assert [*read(Library(books), state, 30 * DAY)]
    library = CarelessLibrary(books)
    both = ("came", "lent")
    run = read(
        library,
        state,
        30 * DAY + 60,
        both,
        has_strays=True,
    )
    with pytest.raises(IgnoredRangeError, match="came"):
        list(run)
