"""Fixtures with one sandbox in this process for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.options import Options
from tests.support.asking import NOW, SIZES
from tests.support.in_process import sandbox_in_process


@pytest.fixture(scope="session")
def server() -> Iterator[Sandbox]:
    options = Options(sizes=SIZES, clock=NOW)
    with sandbox_in_process(options, "own") as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(server: Sandbox) -> Sandbox:
    server.configure()
    return server
