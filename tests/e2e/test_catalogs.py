"""What a catalog changes: keys, and streams that are read whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.runs import (
    CLOCK,
    SINCE,
    TapProcess,
    catalog,
    fill,
    last_state,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox


def test_a_lead_without_a_signals_time_cannot_have_it_as_key(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    fill(sandbox, leads=10)
    sandbox.insert("leads", {"id": "unobserved"}, found_at=CLOCK)
    key = {"key_properties": ["id", "signal_observed_at"]}
    process = TapProcess(tmp_path, config, catalog=catalog("leads", leads=key))
    assert "leads: page 1: a record has no signal_observed_at" in (
        process.finish().failed()
    )


@pytest.mark.parametrize("versions", [True, False])
def test_a_full_table_is_one_chain_and_its_version_comes_last(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path, *, versions: bool
) -> None:
    fill(sandbox, leads=250, observations=250, monitored_accounts=250)
    full = {"replication_method": "FULL_TABLE"}
    config |= {"start_date": SINCE, "emit_activate_version_messages": versions}
    streams = ("leads", "observations", "monitored_accounts")
    process = TapProcess(tmp_path, config, catalog=catalog(*streams, leads=full))
    run = process.finish().succeeded()

    for stream in streams:
        kinds = [
            message["type"]
            for message in run.messages
            if message.get("stream") == stream
        ]
        activated = versions and stream != "observations"
        assert kinds == [
            *("SCHEMA", *(250 * ["RECORD"])),
            *(["ACTIVATE_VERSION"] if activated else []),
        ]
        recorded = {
            message.get("version")
            for message in run.messages
            if message["type"] in {"RECORD", "ACTIVATE_VERSION"}
            and message["stream"] == stream
        }
        assert len(recorded) == 1
        assert (recorded == {None}) is not activated
    bodies = [r["body"] for r in sandbox.requests() if r["stream"] == "leads"]
    assert [body.keys() for body in bodies] == 3 * [{"cursor"}]
    assert not last_state(run)["bookmarks"]["leads"]


def test_a_full_table_that_fails_midway_activates_nothing(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    fill(sandbox, monitored_accounts=250)
    sandbox.faults({"kind": "status", "status": 400, "skip": 2})
    config["emit_activate_version_messages"] = True
    process = TapProcess(tmp_path, config, catalog=catalog("monitored_accounts"))
    run = process.finish()
    run.failed()
    assert len(run.records("monitored_accounts")) == 200
    assert "ACTIVATE_VERSION" not in run.stdout
