"""The state of a real project, changed in the pipes that the pages show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.times import format_instant, parse_instant
from tests.support.pipelines import Pipeline
from tests.support.runs import DAY, SINCE, fill

if TYPE_CHECKING:
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.pipelines import PostgresWarehouse

FROM, LATE, TO = (
    format_instant(parse_instant(SINCE) + days * DAY) for days in (60, 75, 90)
)


def covered(pipeline: Pipeline) -> list[tuple[str, str]]:
    # `meltano state get` takes its time, and stands in the pipes already.
    state: Any = json.loads(pipeline.kept_state())
    entries = state["singer_state"]["bookmarks"]["observations"]["coverage"]
    return [(entry["from"], entry["to"]) for entry in entries]


def test_a_terminal_obeys_nothing_that_a_state_says(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    entry = {"range": "date_found", "from": FROM, "to": TO, "source": "\x1b[2J\x1b]0;x"}
    state = {"bookmarks": {"leads": {"coverage": [entry]}}}
    path.write_text(json.dumps(state), encoding="utf-8")
    # What is no terminal gets no colours, so `click` would take some of it away.
    ours, terminal = os.openpty()
    command = [sys.executable, "-m", "tap_leadintent.state_tool", "show", str(path)]
    code = subprocess.call(command, stdout=terminal)  # noqa: S603 - our own
    os.close(terminal)
    with os.fdopen(ours, "rb") as shown:
        text = shown.read1().decode()
    assert code == 0
    assert "\\x1b[2J\\x1b]0;x without filters" in text
    assert "\x1b" not in text


@pytest.mark.long
def test_what_is_forgotten_in_a_pipe_is_loaded_again(
    sandbox: Sandbox, warehouse: PostgresWarehouse
) -> None:
    fill(sandbox, observations=50)
    only = '["observations.*"]'
    pipeline = Pipeline(warehouse, sandbox, "forgotten", TAP_LEADINTENT__SELECT=only)
    pipeline.run()
    ((start, end),) = covered(pipeline)

    forget = ("forget", "--stream", "observations", "--from", FROM)
    refused = pipeline.change_state(*forget, "--to", "soon")
    assert refused.returncode
    assert "Error: --to: 'soon' is not a date" in refused.stderr
    assert covered(pipeline) == [(start, end)]

    changed = pipeline.change_state(*forget, "--to", TO)
    assert changed.returncode == 0, changed.stderr
    assert covered(pipeline) == [(start, FROM), (TO, end)]

    # Late enough to be found by nothing but a second reading of that time.
    sandbox.insert("observations", {"id": "late"}, observed_at=LATE)
    pipeline.run()
    ((again, _),) = covered(pipeline)
    assert again == start
    with warehouse.postgres.connect() as connection:
        query = "SELECT count(*) FROM forgotten.observations WHERE id = 'late'"
        row = connection.execute(query).fetchone()
    assert row == (1,)
