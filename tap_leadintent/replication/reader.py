"""Reads windows of a range, several at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.replication.prefetch import Prefetch

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.replication.windows import Window, Windows

    Fields = dict[str, Any]


class Reader:
    """Reads an endpoint window by window; one range after the other."""

    def __init__(
        self,
        read_chain: Callable[[Fields, Check], Iterator[Page]],
        check: Check,
        logger: logging.Logger,
    ) -> None:
        """Begin nothing yet.

        Args:
            read_chain: Reads the cursor chain of some request fields.
            check: Called now and then; raises to end the run.
            logger: Gets a warning where there are too few threads.
        """
        self._read_chain = read_chain
        self._check = check
        self._logger = logger
        self._prefetch: Prefetch | None = None

    def read(
        self,
        windows: Windows,
        fields_of: Callable[[Window], Fields],
        *,
        readers: int,
    ) -> Iterator[tuple[Window, Iterator[Page]]]:
        """Read windows.

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
            return self._read_chain(fields_of(window), check)

        with Prefetch(windows, chain, readers=readers, check=self._check) as prefetch:
            self._prefetch = prefetch
            if prefetch.readers < readers:
                self._logger.warning(
                    "Only %d of %d windows are read at once, as the system allows no "
                    "more threads",
                    prefetch.readers,
                    readers,
                )
            yield from prefetch

    def end_by(self, latest: int) -> None:
        """Begin no window beyond an instant.

        Args:
            latest: The instant, in seconds since 1970.
        """
        if self._prefetch is not None:
            self._prefetch.end_by(latest)

    def stop(self) -> None:
        """End all reading, whatever still waits to be handed over."""
        if self._prefetch is not None:
            self._prefetch.stop()
