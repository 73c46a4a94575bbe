"""One sandbox process for all tests of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tap_leadintent.sandbox import Sandbox, running_sandbox
from tests.support.asking import SESSION

if TYPE_CHECKING:
    from collections.abc import Iterator

# Small, so that tests which configure it anew are fast.
SIZES = (
    *("--size", "leads=230"),
    *("--size", "signal_accounts=110"),
    *("--size", "monitored_accounts=60"),
    *("--size", "observations=120"),
    *("--size", "monitored_leads=60"),
)


@pytest.fixture(scope="session")
def process() -> Iterator[Sandbox]:
    with running_sandbox(*SIZES) as sandbox, SESSION:
        yield sandbox


@pytest.fixture
def sandbox(process: Sandbox) -> Sandbox:
    process.configure()
    return process
