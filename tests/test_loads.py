"""What the stream `loads` says about the fields of a run."""

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import Json, RunTap, only

KINDS = ("new", "absent", "contradicting")


def test_fields_that_came_went_or_changed_their_type_are_named(
    sandbox: Sandbox, config: Json, tap: RunTap
) -> None:
    config = {**config, "load_receipts": True, "lookback_days": 0}
    with_loads = TapLeadIntent(config=config).catalog_dict
    state: Json | None = None
    found = []
    (complete, *_) = tap(config, catalog=only("leads")).records("leads")
    del complete["signal_observed_at"], complete["additional_properties"]
    less = {name: value for name, value in complete.items() if name != "title"}
    for changes in (
        complete,
        {**complete, "fullname": "A", "score": "high"},
        {**less, "fullname": "B"},
    ):
        sandbox.insert("leads", {**changes, "id": "changed"}, found_at=sandbox.now())
        sandbox.advance(60)
        run = tap(config, catalog=only("leads", "loads", of=with_loads), state=state)
        state = run.succeeded().state
        row, *_ = run.records("loads")
        found.append([row[f"{what}_fields"] for what in KINDS])
    assert found == [[None] * 3, ["fullname", None, "score"], [None, "title", None]]
