"""What tests of replication can ask for."""

import logging
from collections.abc import Iterator

import pytest

from tests.support.helpers import readers_alive


@pytest.fixture
def no_thread_is_left_behind() -> Iterator[None]:
    """Look for threads after the test."""
    yield
    assert readers_alive() == []


@pytest.fixture
def _quiet() -> Iterator[None]:
    """Keep the log of thousands of runs out of memory."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)
