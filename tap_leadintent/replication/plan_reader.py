"""Reads what a plan asks for: step by step and page by page, oldest first."""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Generic

from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.protocol import Api, PageT
from tap_leadintent.replication.reader import Reader, WindowPage
from tap_leadintent.replication.windows import Windows


@dataclass(eq=False, kw_only=True, repr=False)
class PlanReader(Generic[PageT]):
    """Reads an endpoint for the main thread; other threads send the requests."""

    api: Api[PageT]
    """The endpoint."""

    readers: int
    """How many windows are read at once."""

    widest: int
    """The most seconds of a window."""

    caps: Caps
    """What the queries of the stream have shown."""

    now: int
    """When the run began, in UTC seconds since 1970."""

    def read(self, step: Step) -> Generator[WindowPage[PageT]]:
        """Read a step.

        Args:
            step: A step of a plan, or `LIST`.

        Yields:
            Each page, and a sign for each window that was left, oldest window first.

        Raises:
            Exception: The step cannot be read.
        """
        end = step.read_again_to
        if end is None:
            yield from self._read(step)
            return
        for part in step.intervals:
            has_read = False
            for page in self._read(replace(step, intervals=[part])):
                has_read = has_read or page.page is not None
                yield page
            if has_read and part[1] < end:
                yield from self._read(replace(step, intervals=[(part[1], end)]))
                return

    def _read(self, step: Step) -> Iterator[WindowPage[PageT]]:
        readers = self.readers if step.range_name else 1
        windows = Windows(
            step, caps=self.caps, widest=self.widest, readers=readers, now=self.now
        )
        reader = Reader(api=self.api, windows=windows, readers=readers)
        with closing(reader.read()) as pages:
            yield from pages
