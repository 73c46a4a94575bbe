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
NOON, LATER = "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.5+05:45"


def sample(name: str, *values: Any) -> list[dict[str, Any]]:
    """Return records with one field; an ellipsis stands for one without it."""
    return [{"id": "1"} | ({} if v is ... else {name: v}) for v in values]


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
        ("x", [[{"a": [1]}], [{"b": {}}, {}]], {**ARRAY, "items": OBJECT}),
        ("x", [[{"a": 1}], ["a"]], ARRAY),
        ("created_at", [NOON, LATER, None, ...], TIME),
        ("start_time", [NOON], TIME),
        ("created_at", [NOON, "2026-03-01"], TEXT),
        ("created_at", ["2026-02-30T12:00:00Z"], TEXT),
        ("chat", [NOON], TEXT),
        *(("x_at", [*v], None) for v in ([...], [None, ...], [1, "1"], [1, True])),
        *(("x_at", [*v], None) for v in ([NOON, 1], [[1], {"a": 1}])),
    ],
)
def test_columns(name: str, values: list[Any], schema: Json | None) -> None:
    assert infer(sample(name, *values), DECLARED) == ({name: schema} if schema else {})


@pytest.mark.parametrize(
    "names",
    [
        ["STATUS", "Status", "status"],
        ["ID"],
        ["Record_Key"],
        *(["x" * 64], ["größe"], ["a.b"], ["1st"], [""], ["_sdc_batched_at"]),
    ],
    ids=repr,
)
def test_names_without_a_column(names: list[str]) -> None:
    """Some warehouses refuse or confuse them."""
    fields = dict.fromkeys(names, "a")
    fine = dict.fromkeys(["x" * 63, "_x", "X1", "userId"], 1)
    assert infer([{"id": "1", **fine, **fields}], DECLARED).keys() == fine.keys()


texts = st.text(max_size=3) | st.sampled_from([NOON, LATER])
numbers = st.integers() | st.floats(allow_nan=False)
values = nested(st.none() | st.booleans() | numbers | texts, st.text(), most=2)
fields = st.sampled_from(["a", "A", "b_at", "id", "record_key", "x" * 64]) | st.text()
samples = st.lists(st.dictionaries(fields, values, max_size=5), max_size=6)


@given(samples, st.randoms())
def test_the_sample_fits_its_columns_in_any_order(
    records: list[dict[str, Any]], random: Any
) -> None:
    columns = infer(records, DECLARED)
    assert columns.keys().isdisjoint(DECLARED)
    assert len({name.lower() for name in columns}) == len(columns)
    for name, column in columns.items():
        for record in records:
            Draft202012Validator(column).validate(record.get(name))
    shuffled = [dict(random.sample([*r.items()], len(r))) for r in records]
    random.shuffle(shuffled)
    assert [*infer(shuffled, DECLARED).items()] == [*columns.items()]


def test_meltanos_extra_keeps_what_is_set(
    columns: RunTap, sandbox: Sandbox, config: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.configure(api_key=config["api_key"], sizes=dict.fromkeys(UNDOCUMENTED, 250))
    before = {"observations": {"confidence": TEXT}, "leads": {"mood": TEXT}}
    monkeypatch.setenv("TAP_LEADINTENT__SCHEMA", json.dumps(before))
    excluded = {"monitored_leads": ["email"]}
    run = columns({**config, "exclude_fields": excluded}, "--pages", "2")
    found = json.loads(run.succeeded().stdout)
    assert found.keys() == {*UNDOCUMENTED, "leads"}
    assert found["leads"] == before["leads"]
    assert found["observations"]["confidence"] == TEXT
    assert found["observations"]["published_at"] == TIME
    assert found["monitored_accounts"]["checks"] == NUMBER
    assert "email" not in found["monitored_leads"]
    assert "full_name" in found["monitored_leads"]
    read = [request["stream"] for request in sandbox.requests()]
    assert sorted(read) == sorted([*UNDOCUMENTED, *UNDOCUMENTED])


def test_a_catalog_with_the_columns_is_obeyed(
    columns: RunTap, tap: RunTap, sandbox: Sandbox, config: Json, tmp_path: Path
) -> None:
    """Also a catalog that is given, whose columns keep their types."""
    path = tmp_path / "before.json"
    catalog = only("custom_signals")
    entries(catalog)["custom_signals"]["schema"]["properties"]["active"] = TEXT
    path.write_text(json.dumps(catalog), encoding="utf-8")
    given = json.loads(columns(config, "--catalog", str(path)).succeeded().stdout)
    assert entries(given)["custom_signals"]["schema"]["properties"]["active"] == TEXT
    made = json.loads(columns(config, "--catalog").succeeded().stdout)
    names = {r["id"]: r["name"] for r in sandbox.records("custom_signals")}
    for each in (given, only("custom_signals", of=made)):
        records = tap(config, catalog=each).succeeded().records("custom_signals")
        assert {record["id"]: record["name"] for record in records} == names
        assert all("name" not in (r["additional_properties"] or {}) for r in records)


def test_a_catalog_without_columns_gets_them(
    columns: RunTap, config: Json, tmp_path: Path
) -> None:
    path = tmp_path / "before.json"
    names = ["custom_signals", "loads"]
    path.write_text(json.dumps({"streams": [{"tap_stream_id": n} for n in names]}))
    made = json.loads(columns(config, "--catalog", str(path)).succeeded().stdout)
    found = {n: entry["schema"]["properties"] for n, entry in entries(made).items()}
    assert found["custom_signals"]["active"] == FLAG
    assert not found["loads"]


def test_records_of_a_file_need_no_key_and_no_request(
    columns: RunTap, sandbox: Sandbox, tmp_path: Path
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"id": "a", "n": 1}\n{"id": "b", "n": 2}\n', encoding="utf-8")
    run = columns({}, "--records", "observations", str(path)).succeeded()
    assert json.loads(run.stdout) == {"observations": {"n": NUMBER}}
    assert not sandbox.requests()
    path.write_text('{"name": "Ada"', encoding="utf-8")
    refused = columns({}, "--records", "observations", str(path))
    assert refused.code == 1
    assert "Ada" not in refused.stderr
    assert columns({}, "--records", "nothing", str(path)).code == 2


def test_streams_that_cannot_be_read_are_left_out(
    columns: RunTap, sandbox: Sandbox, config: Json, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox.faults(status(403, stream="observations"))
    run = columns(config).succeeded()
    assert json.loads(run.stdout).keys() == UNDOCUMENTED - {"observations"}
    assert "observations: deselect this stream" in caplog.text
    sandbox.faults(status(401))
    refused = columns({**config, "max_retries": 0})
    assert (refused.code, refused.stdout) == (1, "")
    assert "Error: 2 of 5 streams failed" in refused.stderr
    assert "set api_key to a valid key" in refused.stderr


def test_statements_need_no_request_and_name_what_is_excluded(
    columns: RunTap, sandbox: Sandbox, config: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MELTANO_EXTRACT__LOAD_SCHEMA", "it's")
    settings = {
        "exclude_fields": {"leads": ["full_name", "profile.url"]},
        "stream_maps": {
            "history": {"__source__": "leads"},
            "leads": {"__alias__": "people"},
            "observations": {"title": "__NULL__"},
        },
    }
    printed = columns({**config, **settings}, "--statements").stdout
    assert "table_schema = 'it''s'" in printed
    fields = (["full_name"], ["profile.url"], ["profile__url"], ["profile", "url"])
    for table in ("leads", "history", "people"):
        for path in fields:
            assert f"('{table}', ARRAY{path})" in printed
    assert "observations" not in printed
    assert not sandbox.requests()
    refused = columns(config, "--statements")
    assert refused.code == 1
    assert "Error: exclude_fields: is not set; " in refused.stderr
