"""What the stream `loads` says about the fields of a run."""

from typing import Any

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import RunTap, only


def test_fields_that_came_or_changed_their_type_are_named_once(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap
) -> None:
    config = {**config, "load_receipts": True}
    with_loads = TapLeadIntent(config=config).catalog_dict
    state: dict[str, Any] | None = None
    found = []
    for changes in ({}, {"fullname": "A", "score": "high"}, {"fullname": "B"}):
        sandbox.insert("leads", {"id": "changed", **changes}, found_at=sandbox.now())
        sandbox.advance(60)
        run = tap(config, catalog=only("leads", "loads", of=with_loads), state=state)
        state = run.succeeded().state
        row, *_ = run.records("loads")
        found.append((row["new_fields"], row["contradicting_fields"]))
    assert found == [(None, None), ("fullname", "score"), (None, None)]
