"""A whole run: what fails with one stream, and what ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import STREAMS, each_reading_entry, only

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

UNHANDLED = "unhandled error"


def test_batches_that_cannot_be_written_say_where(
    tap: Callable[..., Run], config: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "batches"
    batches = {
        "encoding": {"format": "jsonl", "compression": "gzip"},
        "storage": {"root": folder.as_uri(), "prefix": ""},
    }
    ended = tap({**config, "batch_config": batches})
    line = ended.failed()
    assert line.startswith(f"{len(STREAMS)} of {len(STREAMS)} streams failed: ")
    reason = line.partition("signal_agents: ")[2]
    assert reason.startswith("batches cannot be written ([Errno 20] Not a directory: ")
    assert reason.endswith(f"'{folder}'); see batch_config")
    assert f"| leads: {reason}" in ended.stderr
    assert UNHANDLED not in ended.stderr
    assert ended.state["bookmarks"]["leads"]["coverage"] == []


# What is logged of a failure: the reason, and nothing that hides it


@each_reading_entry
@pytest.mark.parametrize(
    "change",
    [{"api_key": "wrong-7c2e"}, {"base_url": "http://127.0.0.1:9", "max_retries": 0}],
    ids=["refused", "unreachable"],
)
def test_what_the_tap_reports_is_handled(
    tap: Callable[..., Run],
    config: dict[str, Any],
    change: dict[str, Any],
    arguments: list[str],
) -> None:
    run = tap({**config, **change}, *arguments, catalog=only("leads"))
    assert run.failed()
    assert UNHANDLED not in run.stderr


def test_the_end_of_a_test_is_not_a_failure(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    assert "ERROR" not in tap(config, "--test").succeeded().stderr


def test_a_reason_is_logged_at_once(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    """Other streams may take hours until the last line names what failed."""
    sandbox.faults({"kind": "status", "stream": "leads", "status": 422})
    run = tap(config)
    reason = run.failed().partition("leads: ")[2]
    told = [line for line in run.stderr.splitlines() if reason in line]
    assert len(told) == 2
    assert "| ERROR    | tap-leadintent.leads " in told[0]
    after = run.stderr.partition(told[0])[2]
    assert "monitored_accounts: 3 records" in after
