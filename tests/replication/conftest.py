"""What tests of replication can ask for."""

import logging
import threading
from collections.abc import Iterator

import pytest


@pytest.fixture
def no_thread_is_left_behind() -> Iterator[None]:
    """Look for threads that go on reading windows after the test."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("reader"):
            thread.join(10)
            assert not thread.is_alive()


@pytest.fixture
def _quiet() -> Iterator[None]:
    """Keep the log of thousands of runs out of memory."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)
