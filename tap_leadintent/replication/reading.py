"""Reads windows of a stream, several at once, and shapes what they hold."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from singer_sdk.helpers.conform import TypeConformanceLevel

from tap_leadintent.api.endpoint import CursorRefusedError
from tap_leadintent.errors import StreamError
from tap_leadintent.records.shaper import RecordShaper
from tap_leadintent.replication.prefetch import Prefetch
from tap_leadintent.singer.stream import EmittingStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tap_leadintent.api.page import Page, Records
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.replication.windows import Window, Windows

    Record = dict[str, Any]

_RESTARTS = 3


class ReadingStream(EmittingStream):
    """A stream whose records can be read window by window."""

    TYPE_CONFORMANCE_LEVEL = TypeConformanceLevel.NONE  # `RecordShaper` does it once

    entity: str
    """What a record is, singular; the record's own id may be named after it."""

    _prefetch: Prefetch | None = None

    @cached_property
    def _shaper(self) -> RecordShaper:
        return RecordShaper(
            columns=self.effective_schema["properties"],
            key_properties=self.primary_keys,
            entity=self.entity,
            mask=self.mask,
            logger=self.logger,
        )

    def add_columns(self, columns: dict[str, dict[str, Any]]) -> None:
        """Declare more columns than the stream's class does.

        Args:
            columns: The schema of each, by name.
        """
        properties = {**self.schema["properties"], **columns}
        # An instance's own value comes before that of its class's descriptor.
        vars(self)["schema"] = {**self.schema, "properties": properties}

    def read(
        self,
        windows: Windows,
        fields_of: Callable[[Window], dict[str, Any]],
        *,
        readers: int,
    ) -> Iterator[tuple[Window, Iterator[Page]]]:
        """Read windows, several at once.

        Args:
            windows: What to read.
            fields_of: Gives the request fields of a window.
            readers: How many windows to read at once.

        Yields:
            Each window, oldest first, with its pages as they come, which are to be
            read before the next window.

        Raises:
            StreamError: The stream cannot go on.
            SystemExit: A signal came.
        """

        def chain(window: Window, check: Check) -> Iterator[Page]:
            return self._chain(fields_of(window), check)

        check = self._pace.check
        _ = self.sender  # Made here, as several threads would each make one.
        with Prefetch(windows, chain, readers=readers, check=check) as prefetch:
            self._prefetch = prefetch
            if prefetch.readers < readers:
                self.logger.warning(
                    "Only %d of %d windows are read at once, as the system allows no "
                    "more threads",
                    prefetch.readers,
                    readers,
                )
            yield from prefetch

    def read_no_further(self, latest: int) -> None:
        """Begin no window beyond an instant.

        Args:
            latest: The instant, in seconds since 1970.
        """
        if self._prefetch is not None:
            self._prefetch.end_by(latest)

    def stop_reading(self) -> None:
        """End all reading, whatever still waits to be handed over."""
        if self._prefetch is not None:
            self._prefetch.stop()

    def _chain(self, fields: dict[str, Any], check: Check) -> Iterator[Page]:
        for restart in range(_RESTARTS + 1):
            try:
                yield from self.request_pages(fields, check)
            except CursorRefusedError as error:
                if restart == _RESTARTS:
                    raise
                self.logger.warning(
                    "The API refused its cursor; the window starts again: %s", error
                )
            else:
                return

    def shape_page(
        self, records: Records, number: int, window_end: str | None = None
    ) -> list[Record]:
        """Shape what a page holds.

        Args:
            records: The page's records.
            number: Which page it is of its window, from 1.
            window_end: Value of the column `window_end`, where the stream has it.

        Returns:
            The records as a target gets them.

        Raises:
            StreamError: One of them has no key.
        """
        try:
            for repair in records.repairs:
                self._shaper.notices.tell(repair, "A record held %s", repair)
            return self._shaper.shape(records.data, window_end)
        except ValueError as error:
            msg = f"{self.name}: page {number}: {error}"
            raise StreamError(msg) from None

    def emit(self, records: Iterable[Record]) -> Iterator[Record]:
        """Hand a page's records over, unless a signal has come.

        Args:
            records: Shaped records.

        Yields:
            Each of them.

        Raises:
            SystemExit: A signal came.
        """
        check = self._pace.check
        for record in records:
            check()
            self.tally.records += 1
            yield record
        # The next page may have to be waited for.
        self.flush()
