"""Fixtures of pytest for tests of pipelines, without a key and offline.

Put this into the `conftest.py` at the top of your tests:

    pytest_plugins = ["tap_leadintent.sandbox.fixtures"]

A test then takes the fixtures that it needs:

    from tap_leadintent.tap import TapLeadIntent

    def test_a_lead_is_loaded(leadintent_sandbox, leadintent_config):
        leadintent_sandbox.insert("leads", {"id": "ada", "full_name": "Ada Best"})
        settings = {**leadintent_config, "start_date": "2025-06-01"}
        leads = TapLeadIntent(config=settings).streams["leads"]
        assert "ada" in {lead["id"] for lead in leads.get_records(None)}
"""

from collections.abc import Iterator

import pytest

from tap_leadintent.sandbox.client import Sandbox, running_sandbox
from tap_leadintent.sandbox.options import Options, three_weeks_ago


@pytest.fixture(scope="session")
def leadintent_server() -> Iterator[Sandbox]:
    """Run one sandbox for all tests of this process, in a process of its own."""
    with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def leadintent_sandbox(leadintent_server: Sandbox) -> Sandbox:
    """Return a sandbox with its default data, without faults.

    Its clock stands three weeks ago, so that a test can move it. The tap reads nothing
    beyond its own clock.
    """
    leadintent_server.configure(clock=three_weeks_ago())
    return leadintent_server


@pytest.fixture
def leadintent_config(leadintent_sandbox: Sandbox) -> dict[str, str]:
    """Return the settings with which the tap reads the sandbox."""
    options = Options()
    return {
        "base_url": leadintent_sandbox.url,
        "api_key": options.api_key,
    }
