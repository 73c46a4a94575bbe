"""A whole run: what fails with one stream, and what ends it."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tap_leadintent.errors import RunError
from tap_leadintent.streams import Leads
from tests.support.helpers import TIMEOUT, each_reading_entry, final_error
from tests.support.model import DAY, Api, run, steady
from tests.support.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.helpers import Run


def test_an_error_of_requests_outside_a_request_is_one_streams_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        msg = "no such header"
        raise requests.exceptions.InvalidHeader(msg)

    monkeypatch.setattr(Leads, "prepare_request_payload", refuse)
    api, store = Api(now=2 * DAY, leads=steady(35)), Store()
    with pytest.raises(RunError, match=r"^1 of 2 .*: leads: InvalidHeader: no such"):
        run(api, store, {}, selected=("leads", "monitored_accounts"))
    written = {message["stream"] for message in store.of_type("RECORD")}
    assert written == {"monitored_accounts"}


def test_garbage_is_looked_for_less_during_a_run_and_as_ever_after_it() -> None:
    before = gc.get_threshold()
    seen: list[tuple[int, int]] = []

    class Watching(Store):
        def write_message(self, message: Any) -> None:
            super().write_message(message)
            seen.append((gc.get_freeze_count(), gc.get_threshold()[0]))

    run(Api(now=2 * DAY, leads=steady(5)), Watching(), {})
    frozen, threshold = seen[-1]
    assert frozen > 0
    assert threshold > before[0]
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == before


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
    assert line.startswith("7 of 7 streams failed: ")
    reason = line.partition("signal_agents: ")[2]
    assert reason.startswith("batches cannot be written ([Errno 20] Not a directory: ")
    assert reason.endswith(f"'{folder}'); see batch_config")
    assert f"| leads: {reason}" in ended.stderr
    assert "unhandled" not in ended.stderr
    coverage = ended.state["bookmarks"]["leads"]["coverage"]
    assert [entry["range"] for entry in coverage] == ["latest_signal"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@each_reading_entry
def test_a_full_disk_behind_stdout_ends_the_run(
    config: dict[str, Any], tmp_path: Path, arguments: list[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "tap_leadintent",
        "--config",
        str(path),
        *arguments,
    ]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 - our own module
            command,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            encoding="utf-8",
            timeout=TIMEOUT,
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    told = "standard output cannot be written: No space left on device"
    assert final_error(done.stderr) == told
