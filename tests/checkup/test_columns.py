"""Typed columns for streams whose fields are not documented."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tap_leadintent.checkup.columns import infer
from tap_leadintent.sandbox import Sandbox
from tests.support.arbitrary import nested
from tests.support.columns import ARRAY, FLAG, NUMBER, OBJECT, TEXT, TIME
from tests.support.helpers import UNDOCUMENTED, Json, RunTap, entries, only, status

DECLARED = ("id", "observed_at", "record_key", "additional_properties")
NOON = "2026-03-01T12:00:00Z"
LATER = "2026-03-01T12:00:00.5+05:45"


def sample(name: str, *values: Any) -> list[dict[str, Any]]:
    """Return records with one field; an ellipsis stands for one without it."""
    records: list[dict[str, Any]] = []
    for value in values:
        record = {"id": "1"}
        if value is not ...:
            record[name] = value
        records.append(record)
    return records


@pytest.mark.parametrize(
    ("name", "values", "schema"),
    [
        ("x", ["a", "", None, ...], TEXT),
        ("x", [True, False], FLAG),
        ("x", [1, 1.5, 10**30, None], NUMBER),
        ("x", [{"a": 1}, {}], OBJECT),
        ("x", [[], None], ARRAY),
        ("x", [[], [1, "a"]], ARRAY),
        ("x", [[[1]], [[]]], ARRAY),
        ("x", [[], ["a", None], ["b"]], {**ARRAY, "items": TEXT}),
        ("x", [[1], [1.5]], {**ARRAY, "items": NUMBER}),
        ("x", [[True], None], {**ARRAY, "items": FLAG}),
        (
            "x",
            [[{"a": [1]}], [{"b": {}}, {}]],
            {**ARRAY, "items": OBJECT},
        ),
        ("x", [[{"a": 1}], ["a"]], ARRAY),
        ("created_at", [NOON, LATER, None, ...], TIME),
        ("start_time", [NOON], TIME),
        ("created_at", [NOON, "2026-03-01"], TEXT),
        ("created_at", ["2026-02-30T12:00:00Z"], TEXT),
        ("chat", [NOON], TEXT),
        ("x_at", [...], None),
        ("x_at", [None, ...], None),
        ("x_at", [1, "1"], None),
        ("x_at", [1, True], None),
        ("x_at", [NOON, 1], None),
        ("x_at", [[1], {"a": 1}], None),
    ],
)
def test_columns(
    name: str,
    values: list[Any],
    schema: Json | None,
) -> None:
    expected = {name: schema} if schema else {}
    records = sample(name, *values)
    assert infer(records, DECLARED) == expected


@pytest.mark.parametrize(
    "names",
    [
        ["STATUS", "Status", "status"],
        ["ID"],
        ["Record_Key"],
        ["x" * 64],
        ["größe"],
        ["a.b"],
        ["1st"],
        [""],
        ["_sdc_batched_at"],
    ],
    ids=repr,
)
def test_names_without_a_column(names: list[str]) -> None:
    """Some warehouses refuse or confuse them."""
    fields = dict.fromkeys(names, "a")
    fine_names = ["x" * 63, "_x", "X1", "userId"]
    fine = dict.fromkeys(fine_names, 1)
    record = {
        "id": "1",
        **fine,
        **fields,
    }
    assert infer([record], DECLARED).keys() == fine.keys()


texts = st.text(max_size=3) | st.sampled_from([NOON, LATER])
numbers = st.integers() | st.floats(allow_nan=False)
scalars = st.none() | st.booleans() | numbers | texts
values = nested(
    scalars,
    st.text(),
    most=2,
)
known_names = ["a", "A", "b_at", "id", "record_key", "x" * 64]
fields = st.sampled_from(known_names) | st.text()
records_of_a_sample = st.dictionaries(
    fields,
    values,
    max_size=5,
)
samples = st.lists(records_of_a_sample, max_size=6)


@given(samples, st.randoms())
def test_the_sample_fits_its_columns_in_any_order(
    records: list[dict[str, Any]],
    random: Any,
) -> None:
    columns = infer(records, DECLARED)
    assert columns.keys().isdisjoint(DECLARED)
    lower_names = {name.lower() for name in columns}
    assert len(lower_names) == len(columns)
    for name, column in columns.items():
        for record in records:
            Draft202012Validator(column).validate(record.get(name))
    shuffled: list[dict[str, Any]] = []
    for record in records:
        items = random.sample([*record.items()], len(record))
        shuffled.append(dict(items))
    random.shuffle(shuffled)
    again = infer(shuffled, DECLARED)
    assert [*again.items()] == [*columns.items()]


def test_meltanos_extra_keeps_what_is_set(
    columns: RunTap,
    sandbox: Sandbox,
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox.configure(
        api_key=config["api_key"],
        sizes=dict.fromkeys(UNDOCUMENTED, 250),
    )
    before = {
        "observations": {"confidence": TEXT},
        "leads": {"mood": TEXT},
    }
    monkeypatch.setenv("TAP_LEADINTENT__SCHEMA", json.dumps(before))
    settings = {
        **config,
        "exclude_fields": {"monitored_leads": ["email"]},
    }
    run = columns(settings, "--pages", "2").succeeded()
    found = json.loads(run.stdout)
    assert found.keys() == {*UNDOCUMENTED, "leads"}
    assert found["leads"] == before["leads"]
    assert found["observations"]["confidence"] == TEXT
    assert found["observations"]["published_at"] == TIME
    assert found["monitored_accounts"]["checks"] == NUMBER
    assert "email" not in found["monitored_leads"]
    assert "full_name" in found["monitored_leads"]
    read = [request["stream"] for request in sandbox.requests()]
    twice = [*UNDOCUMENTED, *UNDOCUMENTED]
    assert sorted(read) == sorted(twice)


def columns_of(catalog: Json) -> dict[str, Json]:
    """Return the columns that a catalog declares, by stream."""
    found: dict[str, Json] = {}
    for name, entry in entries(catalog).items():
        found[name] = entry["schema"]["properties"]
    return found


def names_by_id(records: list[Json]) -> dict[str, str]:
    return {record["id"]: record["name"] for record in records}


def test_a_catalog_with_the_columns_is_obeyed(
    columns: RunTap,
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    tmp_path: Path,
) -> None:
    """Also a catalog that is given, whose columns keep their types."""
    path = tmp_path / "before.json"
    catalog = only("custom_signals")
    columns_of(catalog)["custom_signals"]["active"] = TEXT
    path.write_text(json.dumps(catalog), encoding="utf-8")
    run = columns(config, "--catalog", str(path)).succeeded()
    given = json.loads(run.stdout)
    assert columns_of(given)["custom_signals"]["active"] == TEXT
    run = columns(config, "--catalog").succeeded()
    made = json.loads(run.stdout)
    names = names_by_id(sandbox.records("custom_signals"))
    for each in (given, only("custom_signals", of=made)):
        run = tap(config, catalog=each).succeeded()
        records = run.records("custom_signals")
        assert names_by_id(records) == names
        for record in records:
            extra_fields = record["additional_properties"] or {}
            assert "name" not in extra_fields


def test_a_catalog_without_columns_gets_them(
    columns: RunTap,
    config: Json,
    tmp_path: Path,
) -> None:
    path = tmp_path / "before.json"
    catalog = {
        "streams": [
            {"tap_stream_id": "custom_signals"},
            {"tap_stream_id": "loads"},
        ],
    }
    path.write_text(json.dumps(catalog))
    run = columns(config, "--catalog", str(path)).succeeded()
    found = columns_of(json.loads(run.stdout))
    assert found["custom_signals"]["active"] == FLAG
    assert not found["loads"]


def test_records_of_a_file_need_no_key_and_no_request(
    columns: RunTap,
    sandbox: Sandbox,
    tmp_path: Path,
) -> None:
    path = tmp_path / "records.jsonl"
    records = [
        '{"id": "a", "n": 1}\n',
        '{"id": "b", "n": 2}\n',
    ]
    path.write_text("".join(records), encoding="utf-8")
    arguments = ("--records", "observations", str(path))
    run = columns({}, *arguments).succeeded()
    assert json.loads(run.stdout) == {"observations": {"n": NUMBER}}
    assert not sandbox.requests()
    path.write_text('{"name": "Ada"', encoding="utf-8")
    refused = columns({}, *arguments)
    assert refused.code == 1
    assert "Ada" not in refused.stderr
    unknown = columns({}, "--records", "nothing", str(path))
    assert unknown.code == 2


def test_streams_that_cannot_be_read_are_left_out(
    columns: RunTap,
    sandbox: Sandbox,
    config: Json,
    caplog: pytest.LogCaptureFixture,
) -> None:
    sandbox.faults(status(403, stream="observations"))
    run = columns(config).succeeded()
    assert json.loads(run.stdout).keys() == UNDOCUMENTED - {"observations"}
    assert "observations: deselect this stream" in caplog.text
    sandbox.faults(status(401))
    refused = columns({**config, "max_retries": 0})
    assert (refused.code, refused.stdout) == (1, "")
    assert f"Error: 2 of {len(UNDOCUMENTED)} streams failed" in refused.stderr
    assert "set api_key to a valid key" in refused.stderr


def test_statements_need_no_request_and_name_what_is_excluded(
    columns: RunTap,
    sandbox: Sandbox,
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MELTANO_EXTRACT__LOAD_SCHEMA", "it's")
    settings = {
        **config,
        "exclude_fields": {"leads": ["full_name", "profile.url"]},
        "stream_maps": {
            "history": {"__source__": "leads"},
            "leads": {"__alias__": "people"},
            "observations": {"title": "__NULL__"},
        },
    }
    printed = columns(settings, "--statements").stdout
    assert "table_schema = 'it''s'" in printed
    fields = (
        ["full_name"],
        ["profile.url"],
        ["profile__url"],
        ["profile", "url"],
    )
    for table in ("leads", "history", "people"):
        for path in fields:
            assert f"('{table}', ARRAY{path})" in printed
    assert "observations" not in printed
    assert not sandbox.requests()
    refused = columns(config, "--statements")
    assert refused.code == 1
    assert "Error: exclude_fields: is not set; " in refused.stderr
