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
        ranges = set()
        for entry in entries:
            assert entry.keys() == {"range", "from", "to"}
            ranges.add(entry["range"])
        assert ranges == {*declared.ranges}
    _head, observed = bookmarks["observations"]["coverage"]
    assert observed["from"] == f"{START_DATE}T00:00:00Z"
    assert observed["to"] == CLOCK


def assert_has_figures(text: str, sizes: dict[str, int]) -> None:
    """Assert that lines of Meltano's log have the figures of a run as fields."""
    records: dict[str, int] = {}
    runs: list[Json] = []
    metrics: set[str] = set()
    events: set[str] = set()
    for each in text.splitlines():
        if not each.startswith("{"):
            continue
        line = json.loads(each)
        if line.keys() >= {"stream", "requests"}:
            records[line["stream"]] = line["records"]
        if "failed_streams" in line:
            runs.append(line)
        if "metric_info" in line:
            metrics.add(line["metric_info"]["metric"])
        if "event" in line:
            events.add(_shape(line["event"]))
    assert records == sizes
    (run,) = runs
    assert run["records"] == sum(sizes.values())
    assert run["failed_streams"] == []
    assert metrics >= {"record_count", "sync_duration"}
    assert "http_request_duration" not in metrics
    (shown,) = re.findall(
        r"```text\n(.*?)```",
        section(RUNS, LOGS),
        re.DOTALL,
    )
    for each in shown.splitlines():
        # A run of a few seconds logs no progress.
        if "so far" not in each:
            _, _, event = each.partition("] tap-leadintent ")
            assert _shape(event) in events


def _shape(line: str) -> str:
    """Return a line without its figures."""
    without_waiting = re.sub(r", [\d.]+ s of waiting", "", line)
    return re.sub(r"\d[\d,.:TZ-]*", "0", without_waiting)


@pytest.mark.long
def test_a_state_reads_well_and_a_log_has_the_figures_of_a_run(walk: Walk) -> None:
    assert_has_figures(walk.shell(f"MELTANO_CLI_LOG_FORMAT=json {RUN}"), SIZES)
    printed = walk.shell("meltano state get dev:tap-leadintent-to-target-postgres")
    state = json.loads(printed[printed.index("{") :])["singer_state"]
    assert_reads_well(state["bookmarks"], walk.sandbox.url)
