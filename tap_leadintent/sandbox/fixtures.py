"""Fixtures for tests of pipelines, without a key and offline.

In the `conftest.py` at the top of the tests:

    pytest_plugins = ["tap_leadintent.sandbox.fixtures"]
"""

from collections.abc import Iterator

import pytest

from tap_leadintent.sandbox.client import Sandbox, running_sandbox
from tap_leadintent.sandbox.options import Options, three_weeks_ago


@pytest.fixture(scope="session")
def leadintent_server() -> Iterator[Sandbox]:
    """One sandbox for all tests of this process, in a process of its own."""
    with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def leadintent_sandbox(leadintent_server: Sandbox) -> Sandbox:
    """A sandbox with its default data, without faults, at a clock that stands.

    It stands three weeks ago, so that it can be moved: the tap reads nothing beyond
    its own clock.
    """
    leadintent_server.configure(clock=three_weeks_ago())
    return leadintent_server


@pytest.fixture
def leadintent_config(leadintent_sandbox: Sandbox) -> dict[str, str]:
    """What the tap needs to read the sandbox: `base_url` and `api_key`."""
    return {"base_url": leadintent_sandbox.url, "api_key": Options().api_key}
