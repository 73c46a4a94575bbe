"""The state and the log of a real run of Meltano."""

import json
import re

import pytest

from tests.support.helpers import STREAMS, Json, declared_stream
from tests.support.pages import ROOT, section
from tests.support.runs import CLOCK
from tests.support.walk import RUN, SIZES, START_DATE, Walk

RUNS = ROOT / "docs/runs.md"
LOGS = "## What a run logs"


def assert_reads_well(bookmarks: Json, source: str) -> None:
    """Assert that the state of a project is short, and says what is covered."""
    assert bookmarks.keys() == set(STREAMS)
    for stream, bookmark in bookmarks.items():
        assert len(json.dumps(bookmark, indent=2)) < 1000, stream
        declared = declared_stream(stream)
        if not declared.is_incremental:
            assert "coverage" not in bookmark
            continue
        head, *entries = bookmark["coverage"]
        assert head["source"] == source
        for entry in entries:
            assert entry.keys() == {"range", "from", "to"}
        assert {entry["range"] for entry in entries} == {*declared.ranges}
    _head, observed = bookmarks["observations"]["coverage"]
    assert observed["from"] == f"{START_DATE}T00:00:00Z"
    assert observed["to"] == CLOCK


def assert_has_figures(text: str, sizes: dict[str, int]) -> None:
    """Assert that lines of Meltano's log have the figures of a run as fields."""
    lines = [json.loads(line) for line in text.splitlines() if line[:1] == "{"]
    ends = [line for line in lines if line.keys() >= {"stream", "requests"}]
    assert {line["stream"]: line["records"] for line in ends} == sizes
    (run,) = [line for line in lines if "failed_streams" in line]
    assert run["records"] == sum(sizes.values())
    assert run["failed_streams"] == []
    metrics = {line["metric_info"]["metric"] for line in lines if "metric_info" in line}
    assert metrics >= {"record_count", "sync_duration"}
    assert "http_request_duration" not in metrics
    events = {_shape(line["event"]) for line in lines if "event" in line}
    (shown,) = re.findall(
        r"```text\n(.*?)```",
        section(RUNS, LOGS),
        re.DOTALL,
    )
    # A run of a few seconds logs no progress.
    ended = [line for line in shown.splitlines() if "so far" not in line]
    assert {_shape(line.partition("] tap-leadintent ")[2]) for line in ended} <= events


def _shape(line: str) -> str:
    """Return a line without its figures."""
    return re.sub(
        r"\d[\d,.:TZ-]*",
        "0",
        re.sub(r", [\d.]+ s of waiting", "", line),
    )


@pytest.mark.long
def test_a_state_reads_well_and_a_log_has_the_figures_of_a_run(walk: Walk) -> None:
    assert_has_figures(walk.shell(f"MELTANO_CLI_LOG_FORMAT=json {RUN}"), SIZES)
    printed = walk.shell("meltano state get dev:tap-leadintent-to-target-postgres")
    state = json.loads(printed[printed.index("{") :])["singer_state"]
    assert_reads_well(state["bookmarks"], walk.sandbox.url)
