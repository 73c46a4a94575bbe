"""Runs that are stopped midway, as real processes: nothing is lost, little repeated."""

import signal
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import ids_of, only
from tests.support.runs import (
    CLOCK,
    SINCE,
    TapProcess,
    assert_ended_cleanly,
    assert_states_are_true,
    checkpoints,
    covered,
    fill,
    poll,
    wait_for_a_full_pipe,
)

ONLY_LEADS = only("leads")
LEADS = 2_400
PAGE = 10
KILLED_AFTER = [0, 3, 400, 1000]
"""Lines. Each is a process, which takes seconds. The same promise is held to any number
of kills, without processes, by `test_runs_properties`."""

OPEN = 32 * PAGE + 300
"""What a run may have written since its last STATE: a window has at most 32 pages,
and small windows share a STATE until they have 300 records."""


@pytest.fixture
def load(config: dict[str, Any]) -> dict[str, Any]:
    """Configure a load of all leads since a date."""
    return {**config, "page_size": PAGE}


# SIGKILL


@pytest.mark.long
def test_a_load_that_is_killed_again_and_again_loses_nothing(
    sandbox: Sandbox,
    load: dict[str, Any],
    tmp_path: Path,
) -> None:
    fill(sandbox, leads=LEADS)
    # The first are before any STATE, or at least before one that covers something.
    # All together read fewer lines than there are leads, so that each hits the load.
    assert sum(KILLED_AFTER) < LEADS * 0.9
    kept: set[str] = set()
    state: Any = None
    for lines in KILLED_AFTER:
        process = TapProcess(
            tmp_path,
            load,
            catalog=ONLY_LEADS,
            state=state,
        )
        process.read(lines)
        run = process.finish(signal.SIGKILL).without_torn_line()
        assert run.code == -signal.SIGKILL
        sealed: frozenset[str] = frozenset()
        for _, written in checkpoints(run, "leads"):
            sealed = written
        assert len(ids_of(run.records("leads")) - sealed) <= OPEN
        kept |= sealed
        state = run.state or state
    assert LEADS / 10 < len(kept) < LEADS
    process = TapProcess(
        tmp_path,
        load,
        catalog=ONLY_LEADS,
        state=state,
    )
    run = process.finish().succeeded()

    assert kept | ids_of(run.records("leads")) == {*sandbox.times("leads")}
    span = (
        datetime.fromisoformat(SINCE),
        datetime.fromisoformat(CLOCK),
    )
    assert covered(run.state, "leads", "date_found") == [span]


# SIGTERM and SIGINT


def waits_of(process: TapProcess) -> int:
    """Return how often a process has begun to wait for something."""
    switches = psutil.Process(process.process.pid).num_ctx_switches()
    return int(switches.voluntary)


@pytest.mark.parametrize(
    ("buffering", "number"),
    [
        ("", signal.SIGTERM),
        ("1", signal.SIGINT),
    ],
    ids=["buffered", "unbuffered"],
)
def test_a_signal_with_a_full_pipe_leaves_complete_lines_and_valid_states(  # noqa: PLR0913, PLR0917
    sandbox: Sandbox,
    load: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    buffering: str,
    number: signal.Signals,
) -> None:
    """Also where Python does not buffer, as in many container images."""
    monkeypatch.setenv("PYTHONUNBUFFERED", buffering)
    fill(sandbox)
    for part in range(80):
        # Lines so long that the pipe gets full in the middle of one.
        title = 100_000 * "x" if part > 35 else ""
        leads = [{"id": f"{part}-{n}", "title": title} for n in range(PAGE)]
        found = datetime.fromisoformat(SINCE) + part * timedelta(days=4)
        sandbox.insert(
            "leads",
            *leads,
            found_at=found.isoformat(),
        )
    process = TapProcess(tmp_path, load, catalog=ONLY_LEADS)
    process.read_until("RECORD", 1)
    process.read_until("STATE", 1)
    # Enough for a window that no STATE covers yet.
    process.read(150)
    wait_for_a_full_pipe(process)
    waits = waits_of(process)
    process.process.send_signal(number)
    # Reading on at once would let the write end before it takes the signal.
    poll(lambda: waits_of(process) > waits)
    run = process.finish()

    assert_ended_cleanly(run, number)
    assert run.messages[-1]["type"] == "STATE"
    assert_states_are_true(run, sandbox)
    assert len(run.records("leads")) < 700
    assert covered(run.state, "leads", "date_found")
