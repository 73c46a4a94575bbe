"""The sandbox process as the tests of the sandbox's own want it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.asking import SESSION, SIZES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.sandbox import Sandbox


@pytest.fixture
def sandbox(server: Sandbox) -> Iterator[Sandbox]:
    server.configure(sizes=SIZES)
    with SESSION:
        yield server
