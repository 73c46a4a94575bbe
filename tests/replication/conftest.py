"""What tests of replication can ask for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from tests.support.helpers import readers_alive

if TYPE_CHECKING:
    from collections.abc import Iterator


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
