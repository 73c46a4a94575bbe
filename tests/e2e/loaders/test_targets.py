"""What target-postgres makes of what the tap writes."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from tap_leadintent.sandbox import Sandbox
from tests.support.columns import INTEGER, NUMBER, TIME
from tests.support.helpers import (
    STREAMS,
    Json,
    RunTap,
    entries,
    exact_json,
    only,
    raw_records,
)
from tests.support.pipelines import Pipeline, Warehouse, install
from tests.support.rows import expected_rows
from tests.support.runs import DAY, SINCE, fill
from tests.support.schemas import Schema
from tests.support.targets import run_target

SIZES = dict.fromkeys(STREAMS, 7)
SIZES |= zip(
    STREAMS,
    (0, 250, 1, 99, 100, 101),
    strict=False,
)

LONG = "Ωmega 長い文 🚀 \\u00e9\\\\ \\u2028" * 20_000
ODD_LEADS = (
    f'{{"id": "odd-1", "full_name": "Zoë 佐藤 \\"🚀\\"", "title": "{LONG}"}}',
    '{"id": "odd-2", "score": {"value": 0.30000000000000004, "n": 1e30}}',
    '{"id": "odd-3", "title": "", "company": {}, "signal": null}',
    '{"id": "odd-4", "new": {"deep": [[], [1, [2.50]], {}, null, true], "": ""}}',
)


def test_run_after_run_postgres_holds_what_the_api_holds(
    tap: RunTap,
    schema: Schema,
    sandbox: Sandbox,
    config: Json,
) -> None:
    fill(sandbox, **SIZES)
    sandbox.insert("leads", *ODD_LEADS, found_at=SINCE)
    state: Json | None = None
    seen = []
    for days in (0, 1, 10):
        sandbox.advance(days * DAY)
        # One that is found now, with a signal of long ago.
        late = {
            "id": f"late-{days}",
            "signal": {"observed_at": SINCE},
        }
        for stream in ("leads", "signal_accounts"):
            sandbox.insert(
                stream,
                late,
                found_at=sandbox.now(),
                observed_at=SINCE,
            )
        run = tap(config, state=state).succeeded()
        state = run.state
        schema.load(run)
        tables = schema.tables()
        for stream in STREAMS:
            assert tables[stream] == expected_rows(sandbox, stream)
        seen.append(tables["leads"])
    first, _, last = seen
    assert len(last) > len(first) + 2, "only the late leads are new"
    assert any(last[key] != row for key, row in first.items()), "no lead has moved"


def test_files_hold_what_the_api_holds_once(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    tmp_path: Path,
) -> None:
    fill(sandbox, **SIZES)
    sandbox.insert("leads", *ODD_LEADS)
    output = tmp_path / "output"
    output.mkdir()
    settings = {"destination_path": str(output)}
    run = tap(config).succeeded()
    state = run_target(
        tmp_path,
        "target-jsonl",
        settings,
        run.stdout,
    )

    found = {path.stem: path for path in output.iterdir()}
    assert found.keys() == {stream for stream in STREAMS if SIZES[stream]}
    for stream, path in found.items():
        # Not splitlines(), which also splits at what JSON strings may hold.
        lines = path.read_text(encoding="utf-8").split("\n")
        rows = [exact_json(line) for line in lines if line]
        expected = Counter(record["id"] for record in raw_records(sandbox, stream))
        assert Counter(row["id"] for row in rows) == expected
        assert rows == run.records(stream)
    assert state["bookmarks"].keys() <= set(STREAMS)


@dataclass(frozen=True)
class Files(Warehouse):
    """A folder of files, and the Meltano project that appends to them."""

    folder: Path

    def settings(self, schema: str) -> dict[str, str]:
        del schema
        return {"TARGET_JSONL_DESTINATION_PATH": str(self.folder)}

    def rows(self, stream: str) -> int:
        """Return how many rows have been appended to the file of a stream."""
        text = (self.folder / f"{stream}.jsonl").read_text(encoding="utf-8")
        return text.count("\n")


def test_a_loader_that_forgets_states_at_records_reads_nothing_again(
    sandbox: Sandbox,
    tmp_path: Path,
) -> None:
    fill(
        sandbox,
        leads=250,
        signal_agents=3,
    )
    target = "target-jsonl"
    files = Files(
        install(tmp_path / "meltano", target),
        target,
        tmp_path,
    )
    flat = {
        "TAP_LEADINTENT_FLATTENING_ENABLED": "true",
        "TAP_LEADINTENT_FLATTENING_MAX_DEPTH": "1",
        "TAP_LEADINTENT_LOOKBACK_DAYS": "0",
    }
    pipeline = Pipeline(files, sandbox, "flat", **flat)
    for runs in (1, 2):
        pipeline.run()
        assert files.rows("leads") == 250
        assert files.rows("signal_agents") == 3 * runs


KILLERS: dict[str, tuple[str, Any]] = {
    "text": (r'"a\u0000b\ud800c \ud83d\ude80"', "a\ufffdb\ufffdc 🚀"),
    r"na\u0000me": ("1", 1),
    "constants": ("[NaN, Infinity, -Infinity]", [None] * 3),
    "beyond_64_bits": ("12345678901234567890123", 12345678901234567890123),
    "beyond_doubles": ("[1e400, 1e9999999999999999999]", ["1e400", f"1e{'9' * 19}"]),
    "nested": (r'[[], [[1.5, "\u0000"]], {"": {"\ud800": null}}]',
               [[], [[1.5, "\ufffd"]], {"": {"\ufffd": None}}]),
    "Text": ('"only its case differs"', "only its case differs"),
    "x" * 100: ("true", True),
}  # fmt: skip
TYPED = {
    "number": NUMBER,
    "integer": INTEGER,
    "time": TIME,
}
FITTING: dict[str, tuple[str, Any]] = {
    "number": ("-2.5e-3", Decimal("-0.0025")),
    "integer": ("9223372036854775807", 2**63 - 1),
    "time": ('"2026-03-01T01:00:00+05:45"', datetime(2026, 2, 28, 19, 15, tzinfo=UTC)),
}
BEYOND: dict[str, tuple[str, Any]] = {
    "number": ("1e309", "1e309"),
    "integer": ("9223372036854775808", 2**63),
    "time": ('"0001-01-01T00:00:00+00:01"', "0001-01-01T00:00:00+00:01"),
}


def test_values_that_often_break_pipelines(
    tap: RunTap,
    schema: Schema,
    sandbox: Sandbox,
    config: Json,
) -> None:
    catalog = only("custom_signals")
    entries(catalog)["custom_signals"]["schema"]["properties"] |= TYPED
    fill(sandbox)
    cases = {
        "killers": KILLERS,
        "fitting": FITTING,
        "beyond": BEYOND,
    }
    for name, values in cases.items():
        fields = [f'"id": "{name}"']
        for field, (text, _) in values.items():
            fields.append(f'"{field}": {text}')
        sandbox.insert("custom_signals", f"{{{', '.join(fields)}}}")
    run = tap(config, catalog=catalog)
    schema.load(run)
    tables = schema.tables()
    # The loader's own way checks each record, and inserts row by row.
    schema.load(
        run,
        use_copy=False,
        validate_records=True,
    )
    assert schema.tables() == tables

    nothing = dict.fromkeys(TYPED)
    untyped: dict[str, Json] = {}
    for name, values in cases.items():
        untyped[name] = {}
        for field, (_, value) in values.items():
            column = field.replace(r"\u0000", "\ufffd")
            untyped[name][column] = value
    fitting = untyped.pop("fitting")
    for name, row in tables["custom_signals"].items():
        assert row["additional_properties"] == untyped.get(name)
        typed = fitting if name == "fitting" else nothing
        assert {column: row[column] for column in TYPED} == typed
