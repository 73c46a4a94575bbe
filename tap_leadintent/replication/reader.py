"""Reads windows of a range, several at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tap_leadintent.replication.prefetch import Prefetch

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.replication.windows import Window, Windows


class Reader:
    """Reads an endpoint window by window; one range after the other."""

    def __init__(
        self,
        check: Check,
        logger: logging.Logger,
    ) -> None:
        """Begin nothing yet.

        Args:
            check: Called now and then; raises to end the run.
            logger: Gets a warning where there are too few threads.
        """
        self._check = check
        self._logger = logger
        self._prefetch: Prefetch | None = None

    def read(
        self,
        windows: Windows,
        read_window: Callable[[Window, Check], Iterator[Page]],
        *,
        readers: int,
    ) -> Iterator[tuple[Window, Iterator[Page]]]:
        """Read windows.

        Args:
            windows: What to read.
            read_window: Reads the cursor chain of a window.
            readers: How many windows to read at once.

        Yields:
            Each window, oldest first, with its pages as they come, which are to be
            read before the next window.

        Raises:
            StreamError: The stream cannot go on.
            SystemExit: A signal came.
        """
        with Prefetch(
            windows, read_window, readers=readers, check=self._check
        ) as prefetch:
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
