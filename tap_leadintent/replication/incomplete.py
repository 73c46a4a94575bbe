"""Notes what a run could not read of a stream, or perhaps not completely."""

import logging

from tap_leadintent.errors import StreamError
from tap_leadintent.progress import counted
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.plan import Step
from tap_leadintent.times import format_interval

_MAX_NAMED = 3
"""Intervals that the error of a stream names."""


class Incomplete:
    """Logs what may be incomplete once, and keeps the holes until the stream's end."""

    def __init__(self, logger: logging.Logger) -> None:
        """Create it for a stream.

        Args:
            logger: The stream's logger.
        """
        self._logger = logger
        self._holes: list[str] = []
        self.has_rechecked = True
        """Whether a recheck, if there was one, could read everything."""
        self._may_be_capped = False

    def note_hole(self, step: Step, interval: Interval, reason: str) -> None:
        """Note an interval that could not be read.

        Args:
            step: The step that it belongs to.
            interval: The interval.
            reason: Why it could not be read.
        """
        self._holes.append(f"{step.name} {format_interval(interval)} ({reason})")
        self.has_rechecked &= not step.is_recheck

    def warn_of_a_cap(self, records: int, *, has_range: bool = False) -> None:
        """Warn that a query may have ended too early, once for the stream.

        Args:
            records: How many records it returned.
            has_range: Whether the stream can be read in several queries instead.
        """
        if not self._may_be_capped:
            self._may_be_capped = True
            hint = "if there are more, ask the API's support"
            if has_range:
                hint = "set start_date, so that it is read in several queries"
            self._logger.warning(
                "A query ended after %s with a page as full as the others, so the API "
                "may have left out further ones; %s",
                counted(records, "record"),
                hint,
            )

    def raise_for_holes(self) -> None:
        """Say which intervals could not be read.

        Raises:
            StreamError: There are some.
        """
        if not self._holes:
            return
        texts = self._holes[:_MAX_NAMED]
        if more := len(self._holes) - len(texts):
            texts.append(f"{counted(more, 'interval')} more")
        raise StreamError(
            f"could not read {', '.join(texts)}; everything else was read, and each "
            "run tries this again"
        )
