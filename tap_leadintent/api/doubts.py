"""Bounds how many pages of a run are asked for again because they differ.

Which page differs is decided in `siblings.py`. A window that is `DOUBTFUL` is another
matter: its query may have been ended too early, see `replication/caps.py`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock

from tap_leadintent.errors import StoppedError

_MOST_DOUBTS = 10
"""Pages of a run that are asked for again because they differ."""

_WAIT_SECONDS = 0.1
"""How often, in seconds, a thread that waits checks whether its page is still wanted.
"""


class Doubts:
    """Bounds how many pages of a run are asked for again because they differ."""

    def __init__(self) -> None:
        """Begin a run."""
        self._left = _MOST_DOUBTS
        self._lock = Lock()

    @contextmanager
    def one_at_a_time(self, stopped: Event) -> Iterator[bool]:
        """Wait until no other page is in doubt, as its answer may settle all.

        Args:
            stopped: Set when the page is not wanted any more.

        Yields:
            Whether this page may be asked for again.

        Raises:
            StoppedError: The page is not wanted any more.
        """
        while not self._lock.acquire(timeout=_WAIT_SECONDS):
            if stopped.is_set():
                raise StoppedError
        try:
            yield self._left > 0
        finally:
            self._lock.release()

    def count(self) -> None:
        """Count a page that is asked for again."""
        self._left -= 1
