"""Threads that send requests while the main thread waits for a result or a signal.

The main thread sends no request itself: while it hangs in a DNS look-up, Python does
not handle signals. At the end, no thread is waited for: its request may hang for as
long as the timeout.
"""

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from tap_leadintent.errors import StreamError

T = TypeVar("T")

_WAIT_SECONDS = 0.5
"""The longest uninterrupted wait for a result, after which a signal is noticed."""


def start(target: Callable[[], None], name: str) -> None:
    """Start a thread that does not keep the process alive.

    Args:
        target: What it does.
        name: Its name.

    Raises:
        StreamError: The system allows no further thread.
    """
    try:
        Thread(target=target, name=name, daemon=True).start()
    except (RuntimeError, MemoryError):
        raise StreamError(
            "the operating system allows no further thread; lower concurrency, or "
            "raise the limit"
        ) from None


def wait_for(queue: SimpleQueue[T], raise_if_interrupted: Callable[[], None]) -> T:
    """Wait for an item of a queue, so that a signal can end the wait.

    Args:
        queue: Other threads put items into it.
        raise_if_interrupted: Called before and while an item is awaited; raises if a
            signal came.

    Returns:
        The item.
    """
    while True:
        raise_if_interrupted()
        with suppress(Empty):
            return queue.get(timeout=_WAIT_SECONDS)
