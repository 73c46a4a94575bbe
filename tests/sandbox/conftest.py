"""Fixtures with one sandbox in this process for all tests of this folder."""

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.asking import NOW, SIZES


@pytest.fixture
def sandbox(server: Sandbox) -> Sandbox:
    server.configure(
        sizes=SIZES,
        clock=NOW,
    )
    return server
