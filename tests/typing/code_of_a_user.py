"""Uses what the package offers, as a user's tests do; it is never run.

`test_users.py` lets mypy check it apart from the package, which is then an installed
one: types are found only if the package says that it has some (`py.typed`).
"""

from typing import Any, assert_type

from tap_leadintent.sandbox import Sandbox, running_sandbox
from tap_leadintent.streams.stream import LeadIntentStream
from tap_leadintent.tap import TapLeadIntent


def a_test(leadintent_sandbox: Sandbox, leadintent_config: dict[str, str]) -> None:
    """Use the fixtures of `tap_leadintent.sandbox.fixtures`."""
    leadintent_sandbox.faults({"kind": "status", "status": 503})
    assert_type(leadintent_sandbox.advance(60), str)
    assert_type(leadintent_sandbox.insert("leads", {"id": "a"}), list[str])
    assert_type(leadintent_sandbox.requests(), list[dict[str, Any]])
    tap = TapLeadIntent(config={**leadintent_config, "start_date": "2026-01-01"})
    assert_type(tap.endpoint_streams, dict[str, LeadIntentStream])


with running_sandbox("--leads", "5") as sandbox:
    assert_type(sandbox, Sandbox)
