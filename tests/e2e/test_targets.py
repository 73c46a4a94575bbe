"""What real targets make of what the tap writes: tables of PostgreSQL, and files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import (
    API_KEY,
    STREAMS,
    exact_json,
    raw_records,
)
from tests.support.rows import expected_row
from tests.support.targets import run_target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run
    from tests.support.postgres import Rows

OTHERS = [stream for stream in STREAMS if stream != "leads"]
SIZES = [
    {"leads": 1234, **dict(zip(OTHERS, (0, 1, 99, 100, 101, 7), strict=True))},
    {"leads": 100, **dict(zip(OTHERS, (101, 100, 0, 99, 1, 250), strict=True))},
]

LONG = "Ωmega 長い文 🚀 \\u00e9\\\\ \\u2028" * 20_000
ODD_LEADS = (
    f'{{"id": "odd-1", "full_name": "Zoë 佐藤 \\"🚀\\"", "title": "{LONG}"}}',
    '{"id": "odd-2", "score": {"value": 0.12345678901234567890123, "n": 1e30}}',
    '{"id": "odd-5", "score": {"value": -2.50}}',
    '{"id": "odd-4", "new": {"deep": [[], [1, [2.50]], {}, null, true], "": ""}}',
    '{"id": "odd-3", "title": "", "company": {}, "signal": null}',
)


def fill_unevenly(
    sandbox: Sandbox, sizes: dict[str, int]
) -> dict[str, list[dict[str, Any]]]:
    """Let the sandbox show records, odd ones too; give those of each stream."""
    sandbox.configure(api_key=API_KEY, sizes=sizes)
    sandbox.insert("leads", texts=ODD_LEADS)
    return {stream: raw_records(sandbox, stream) for stream in STREAMS}


def assert_once(found: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
    """Assert that each record was found once, and no other."""
    ids = Counter(record["id"] for record in records)
    assert Counter(row["id"] for row in found) == ids
    assert set(ids.values()) <= {1}


@pytest.mark.parametrize("sizes", SIZES, ids=["many leads", "few leads"])
def test_postgres_holds_what_the_api_holds(
    tap: Callable[..., Run],
    load: Callable[[Run], dict[str, Rows]],
    sandbox: Sandbox,
    config: dict[str, Any],
    sizes: dict[str, int],
) -> None:
    held = fill_unevenly(sandbox, sizes)
    run = tap(config).succeeded()
    tables = load(run)
    for stream, records in held.items():
        assert_once(run.records(stream), records)
        rows = tables[stream]
        for row in rows.values():
            row.pop("window_end", None)  # no field of the record
        assert rows == {
            record["id"]: expected_row(stream, record) for record in records
        }


def test_files_hold_what_the_api_holds(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    held = fill_unevenly(sandbox, SIZES[0])
    output = tmp_path / "output"
    output.mkdir()
    settings = {"destination_path": str(output)}
    run = tap(config).succeeded()
    state = run_target(tmp_path, "target-jsonl", settings, run.stdout)

    found = {path.stem: path for path in output.iterdir()}
    assert found.keys() == {stream for stream, records in held.items() if records}
    for stream, path in found.items():
        # Not splitlines(), which also splits at what JSON strings may hold.
        lines = path.read_text(encoding="utf-8").split("\n")
        rows = [exact_json(line) for line in lines if line]
        assert_once(rows, held[stream])
        assert rows == run.records(stream)
    assert state["bookmarks"].keys() <= set(STREAMS)
