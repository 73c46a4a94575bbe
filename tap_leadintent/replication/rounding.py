"""Learns whether the API rounds a time range, or ignores it."""

from tap_leadintent.replication.ignored import impossible_intervals
from tap_leadintent.replication.intervals import Interval, gap
from tap_leadintent.replication.ledger import Ledger, Question, State, Window
from tap_leadintent.replication.plan import DAY
from tap_leadintent.replication.protocol import OVERLAP_SECONDS

_SHORTEST = 10


class Rounding:
    """Compares the windows of a step by the first pages that they begin with.

    If two windows that do not touch begin with the same page, the API reads both ranges
    as a longer one that holds them: it rounds the range, or ignores it.
    """

    def __init__(
        self,
        ledger: Ledger,
        now: int,
    ) -> None:
        """Begin without any evidence.

        Args:
            ledger: Takes the questions whether the API ignores the range.
            now: When the run began, in UTC seconds since 1970.
        """
        self._ledger = ledger
        self._now = now
        self._questions: list[Question] = []
        self.shortest = _SHORTEST
        """Seconds of the shortest window that is cut because it is long or capped.
        To cut shorter ones would not help, and most of them would be read twice, as
        windows overlap.
        """
        self._first_pages: dict[int, Interval] = {}

    @property
    def is_obeyed(self) -> bool:
        """Whether the API was asked, and has returned no record for impossible times.

        A range that is ignored raises an error instead.
        """
        for question in self._questions:
            if question.state is State.READ and not question.error:
                return True
        return False

    def is_too_short_to_cut(self, window: Window) -> bool:
        """Return whether it would not help to cut a window that is long or capped.

        Args:
            window: The window.
        """
        return window.seconds <= self.shortest

    def note_first_page(
        self,
        window: Window,
        fingerprint: int,
    ) -> None:
        """Note the first page of a window, if it holds records.

        Args:
            window: The window.
            fingerprint: The hash of the page's records.
        """
        own = (window.start, window.end)
        first = self._first_pages.setdefault(fingerprint, own)
        start, end = first
        if start <= window.start and window.end <= end:
            # A part of a window may begin with the same page.
            self._first_pages[fingerprint] = own
        apart = gap(first, own)
        if apart <= OVERLAP_SECONDS:
            return
        if not self._questions:
            for asked_start, asked_end in impossible_intervals(self._now):
                question = Question(
                    asked_start,
                    asked_end,
                    max_retries=1,
                )
                self._questions.append(question)
            self._ledger.questions += self._questions
        both = apart + window.seconds + end - start
        self.shortest = max(self.shortest, _round_up(both))


def _round_up(seconds: int) -> int:
    """Return the shortest of a minute, an hour and a day that holds these seconds.

    The API likely rounds ranges to it. What is longer than a day is returned as it is.
    """
    for unit in (60, 3600, DAY):
        if seconds <= unit:
            return unit
    return seconds
