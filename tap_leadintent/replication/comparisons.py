"""Finds out whether the API has ended the queries of windows too early.

`caps.py` judges that from numbers. What is doubtful is compared with a wider query, or
asked for again in pages of another size, before the window counts as read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from tap_leadintent.replication.caps import Caps, Ended, Verdict
from tap_leadintent.replication.ledger import Ledger, Question, State, Window
from tap_leadintent.replication.plan import LONGEST_UNREADABLE
from tap_leadintent.replication.rounding import Rounding
from tap_leadintent.replication.search import Search

FEW_PARTS = 3
"""Parts that a capped or quiet window is cut into. As each may end with a page that is
not full, few parts cost few requests."""

_COMPARED = 2
"""A doubtful window is compared with a query that is this many times as long as the
longest window. A shorter one would find nothing more where records are sparse."""


@dataclass(eq=False, kw_only=True, repr=False)
class Comparisons:
    """Decides which windows of a step are complete."""

    range_name: str
    """The time range; empty for a list without one."""

    ledger: Ledger
    """The windows, and what is asked about them."""

    caps: Caps
    """What the queries of the stream have shown."""

    search: Search
    """Is told which windows have been read."""

    rounding: Rounding
    """Knows which windows are too short to be cut."""

    now: int
    """When the run began, in UTC seconds since 1970."""

    limit: float
    """Pages after which any window is cut; infinite if there is no such limit."""

    def next(self, windows: Sequence[Window]) -> Window | None:
        """Return which of some windows is compared next, if any.

        Args:
            windows: The windows, oldest first.
        """
        # One comparison at a time, as it may tell enough for all.
        for question in self.ledger.questions:
            if question.about and question.about.state is State.DOUBTFUL:
                return None
        # What holds for the one with the most records holds for the others.
        doubtful: Window | None = None
        for window in windows:
            is_longer = not doubtful or window.records > doubtful.records
            if window.state is State.DOUBTFUL and is_longer:
                doubtful = window
        return doubtful

    def ask(self, window: Window) -> None:
        """Ask for what shows whether the query of a doubtful window is complete.

        Args:
            window: The window. If nothing can show that, it counts as read.
        """
        verdict = self.caps.judge(self.range_name, _ended(window))
        if verdict is Verdict.SINGLE_PAGE:
            self._ask_again(window, window.last)
            return
        if not self.range_name:
            # Nothing is wider than a list of all records.
            self._note_capped(window)
            return
        seconds = _COMPARED * self.search.widest
        # If the comparison failed, the number of records would count as a limit.
        readable = self.now - LONGEST_UNREADABLE
        middle_at_end = min(readable, window.end + seconds // 2)
        end = max(window.end, middle_at_end)
        wider = Question(
            end - seconds,
            end,
            max_retries=1,
            about=window,
        )
        self.ledger.questions.append(wider)

    def _ask_again(
        self,
        window: Window,
        limit: int,
    ) -> None:
        """Ask for a doubtful window again, in pages of another size."""
        again = Question(
            window.start,
            window.end,
            max_retries=1,
            about=window,
            limit=limit,
        )
        self.ledger.questions.append(again)

    def answer(self, question: Question, about: Window) -> None:
        """Learn from a page of a question about a doubtful window, or from its failure.

        Args:
            question: The question.
            about: The window.
        """
        if question.state is State.FATAL:
            about.state = State.FATAL
            about.error = question.error
        elif question.repeats_window:
            self._answer_about_page(question, about)
        elif question.is_at_end and question.records <= about.records:
            self.caps.note_number(about.records)

    def _answer_about_page(
        self,
        question: Question,
        about: Window,
    ) -> None:
        """Decide whether the only page of a doubtful window was its last one."""
        has_more_records = question.records > about.records
        if not question.is_at_end and not has_more_records:
            return
        question.state = State.READ
        if question.limit != about.limit:
            if has_more_records:
                # A record may have appeared since. So the window is asked for again in
                # pages of its first size.
                self._ask_again(about, about.limit)
                return
        elif not has_more_records:
            self.caps.note_small(about.last)
        self.caps.note_checked(about.last)

    def judge(self) -> None:
        """Decide about the windows whose queries have ended."""
        for window in list(self.ledger.of(State.DOUBTFUL)):
            ended = _ended(window)
            verdict = self.caps.judge(self.range_name, ended)
            if verdict is Verdict.COMPLETE:
                self.caps.note_end(self.range_name, ended)
                self._note_read(window)
            elif verdict is not Verdict.CAPPED:
                continue
            elif self.rounding.is_too_short_to_cut(window):
                self._note_capped(window)
            else:
                self._cut(window)

    def _cut(self, window: Window) -> None:
        """Cut a window whose query the API has ended too early."""
        # A part that holds nearly all of it is cut soon.
        pages = ceil(window.fullness / FEW_PARTS**2) + 1
        parts = self.search.equal_parts(
            window.start,
            window.end,
            FEW_PARTS,
        )
        self.ledger.cut(
            window,
            parts,
            max_pages=min(pages, self.limit),
        )
        self.search.decide()

    def _note_capped(self, window: Window) -> None:
        """Let a window count as read that may lack records, as it cannot be cut."""
        self.caps.uncut = max(self.caps.uncut, window.records)
        self._note_read(window)

    def _note_read(self, window: Window) -> None:
        window.state = State.READ
        self.search.note_read(window)
        self.search.decide()


def _ended(window: Window) -> Ended:
    """Return what is judged of a window."""
    return Ended(
        interval=(window.start, window.end),
        total=window.records,
        last=window.last,
        limit=window.limit,
    )
