"""Windows that are being read, and their pages that wait to be handed over."""

from __future__ import annotations

from bisect import insort
from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tap_leadintent.api.page import Page
    from tap_leadintent.replication.windows import Window


class Reading:
    """A window that is being read, and its pages that wait."""

    def __init__(self, window: Window) -> None:
        """Begin without a page.

        Args:
            window: The window.
        """
        self.window = window
        self.pages: deque[Page] = deque()
        self.is_whole = False
        self.error: BaseException | None = None

    @property
    def start(self) -> int:
        """Where the window begins."""
        return self.window.start


class Backlog:
    """All readings; whoever shares one between threads locks it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._readings: list[Reading] = []
        """Sorted by where their windows begin."""
        self.bytes = 0
        """What all pages take that wait."""

    @property
    def oldest(self) -> Reading | None:
        """The reading whose window begins first, if there is any."""
        return self._readings[0] if self._readings else None

    def begin(self, window: Window) -> Reading:
        """Add a window.

        Args:
            window: The window.

        Returns:
            Its reading.
        """
        reading = Reading(window)
        insort(self._readings, reading, key=attrgetter("start"))
        return reading

    def put(self, reading: Reading, page: Page) -> None:
        """Let a page wait.

        Args:
            reading: Its window's.
            page: The page.
        """
        reading.pages.append(page)
        self.bytes += page.size

    def take(self, reading: Reading) -> Page:
        """Take the page that has waited longest.

        Args:
            reading: A reading with a page.

        Returns:
            The page.
        """
        page = reading.pages.popleft()
        self.bytes -= page.size
        return page

    def forget(self, reading: Reading) -> None:
        """Remove a reading, and all its pages that wait.

        Args:
            reading: The reading.
        """
        self._readings.remove(reading)
        self.bytes -= sum(page.size for page in reading.pages)

    def clear(self) -> None:
        """Remove all readings."""
        self._readings.clear()
        self.bytes = 0

    def is_beyond_failure(self, instant: int) -> bool:
        """Tell whether what begins at an instant comes after a window that failed.

        Args:
            instant: The instant, in seconds since 1970.

        Returns:
            Whether it does.
        """
        return any(
            reading.error is not None and reading.start < instant
            for reading in self._readings
        )

    def pack(self) -> bool:
        """Pack the page that is needed last.

        Returns:
            Whether there was one.
        """
        for reading in reversed(self._readings):
            for page in reversed(reading.pages):
                before = page.size
                page.pack()
                self.bytes += page.size - before
                if page.size < before:
                    return True
        return False
