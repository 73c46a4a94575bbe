"""From the API's record to the record that a target gets."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from singer_sdk.helpers.conform import TypeConformanceLevel
from singer_sdk.singerlib import SelectionMask

from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.records.shaper import RecordShaper
from tests.support.helpers import STREAMS, declared_stream, entries, only, select
from tests.support.shaping import LOGGER, shape, shaper

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

# Columns


@pytest.mark.parametrize("name", STREAMS)
def test_every_column_is_present(name: str) -> None:
    columns = declared_stream(name).schema["properties"]
    shaped = shape(name, {"id": "1"})
    assert shaped.keys() == columns.keys()
    assert {column for column, value in shaped.items() if value is not None} == (
        {"id", "record_key"} & columns.keys()
    )


def test_unknown_fields_go_to_additional_properties() -> None:
    unknown = {"new": {"a": [1, None]}, "empty": None, "Id": "x", "": 0}
    shaped = shape("leads", {"id": "1", **unknown})
    assert shaped["additional_properties"] == unknown


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("leads", "signal_observed_at"),
        ("observations", "record_key"),
        ("signal_accounts", "window_end"),
    ],
)
def test_a_field_named_like_a_column_of_the_tap(name: str, field: str) -> None:
    shaped = shape(name, {"id": "1", field: "the API's"})
    assert shaped["additional_properties"] == {field: "the API's"}
    assert shaped[field] != "the API's"


@pytest.mark.parametrize(
    ("signal", "column"),
    [
        ({"observed_at": "2026-03-01T12:00:00Z"}, "2026-03-01T12:00:00.000000Z"),
        (
            {"observed_at": "2026-03-01T00:30:00.123456789+05:45"},
            "2026-02-28T18:45:00.123456Z",
        ),
        ({"observed_at": "2026-02-30T00:00:00Z"}, None),
        ({"observed_at": 1767225600}, None),
        ({}, None),
        ("text", None),
        (None, None),
    ],
    ids=repr,
)
def test_when_a_leads_signal_was_observed(signal: object, column: str | None) -> None:
    assert shape("leads", {"id": "1", "signal": signal})["signal_observed_at"] == column


def test_the_end_of_its_window_stands_in_each_record_of_a_page() -> None:
    rows = shaper("monitored_leads").shape([{"id": "1"}, {"id": "2"}], "2026-03-01")
    assert [row["window_end"] for row in rows] == ["2026-03-01"] * 2


def test_shaping_leaves_the_record_alone() -> None:
    record = {"id": "1", "new": 1, "signal": {"observed_at": "2026-01-01T00:00:00Z"}}
    before = json.dumps(record)
    shape("leads", record)
    assert json.dumps(record) == before


def test_a_column_that_cannot_be_null_is_absent_instead() -> None:
    plain = {"type": "string"}
    shaped = shape("custom_signals", {"id": "1"}, columns={"name": plain})
    assert "name" not in shaped
    filled = shape("custom_signals", {"id": "1", "name": "x"}, columns={"name": plain})
    assert filled["name"] == "x"


def test_a_catalog_without_additional_properties() -> None:
    stream = declared_stream("custom_signals")
    shaped = RecordShaper(
        columns={"record_key": stream.schema["properties"]["record_key"]},
        key_properties=["record_key"],
        made=stream.made,
        mask=SelectionMask(),
        notes=RecordNotes(LOGGER),
    ).shape([{"id": "1", "name": "x"}])
    assert shaped == [{"record_key": "1"}]


def test_each_record_of_a_page_is_shaped_as_if_it_were_alone() -> None:
    page: list[dict[str, Any]] = [
        {"id": "1", "title": "x"},
        {"id": "2", "title": 2},
        {"id": "3", "new": 3},
    ]
    alone = [shape("leads", record) for record in page]
    assert [record["title"] for record in alone] == ["x", None, None]
    assert shaper("leads").shape(page) == alone
    assert shaper("leads").shape([]) == []


# Notes


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == LOGGER.name]


def logged(notes: RecordNotes, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Give the lines that notes are logged in."""
    notes.log(documented=True, show=str)
    return lines(caplog)


def test_every_field_is_noted_that_its_column_cannot_hold(
    caplog: pytest.LogCaptureFixture,
) -> None:
    notes = RecordNotes(LOGGER)
    leads = shaper("leads", notes=notes)
    for number in range(3):
        record = {"id": str(number), "title": number, "new": 1, f"n{number}": 1}
        leads.shape([record])
    unknown, contradicting = logged(notes, caplog)
    assert unknown.startswith(
        "4 fields are only in additional_properties: 'n0', 'n1', 'n2', 'new'; "
    )
    assert contradicting.endswith(": 'title' in 3 records")


def test_one_warning_where_keys_are_made_from_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    signals = shaper("custom_signals")
    for number in range(3):
        signals.shape([{"name": number}])
    (told,) = lines(caplog)
    assert "becomes another row" in told


# Keys


@pytest.mark.parametrize("record", [{}, {"id": None}, {"id": ""}], ids=repr)
@pytest.mark.parametrize("name", ["leads", "signal_agents"])
def test_a_record_without_its_key_is_an_error(
    name: str, record: dict[str, Any]
) -> None:
    line = r"^no record of the page has id, which is part of the stream's key \(id\);"
    with pytest.raises(ValueError, match=line):
        shape(name, record)


@pytest.mark.parametrize("value", [7, False, Decimal("7.0"), {"a": 1}], ids=repr)
def test_an_id_that_is_not_text_becomes_its_json(value: object) -> None:
    expected = {"7": "7", "False": "false", "7.0": "7"}.get(str(value), '{"a":1}')
    shaped = shape("leads", {"id": value})
    assert shaped["id"] == expected
    assert shaped["additional_properties"] == {"id": value}
    undocumented = shape("observations", {"id": value})
    assert undocumented["record_key"] == expected
    assert undocumented["id"] is None
    assert undocumented["additional_properties"] == {"id": value}


def test_every_part_of_an_overridden_key_is_needed() -> None:
    history = shaper("leads", "id", "signal_observed_at")
    record: dict[str, Any] = {"id": "1", "signal": {"observed_at": None}}
    line = r"^no record of the page has signal_observed_at, .* \(id, signal_observed_at"
    with pytest.raises(ValueError, match=line):
        history.shape([record, record])
    fine = {"id": "1", "signal": {"observed_at": "2026-01-01T00:00:00Z"}}
    line = "^a record has no signal_observed_at, .*; choose key-properties that every"
    with pytest.raises(ValueError, match=line):
        history.shape([fine, record])
    record["signal"]["observed_at"] = "2026-01-01T00:00:00Z"
    assert history.shape([record])[0]["id"] == "1"


# Selection


def test_what_is_deselected_does_not_come_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hidden = (("title",), ("company", "domain"), ("unknown",))
    company = {"id": 5, "domain": "example.com", "other": {"domain": "x"}}
    record = {"id": "1", "title": {"a": 1}, "company": company, "unknown": 1}
    notes = RecordNotes(LOGGER)
    shaped = shape("leads", record, deselected=hidden, notes=notes)
    kept = {"id": 5, "other": {"domain": "x"}}
    assert shaped["additional_properties"] == {"company": kept}
    assert company["domain"], "the record itself has been changed"
    (told,) = logged(notes, caplog)
    assert told.endswith("selected: 'company' in 1 record")


def test_what_is_deselected_in_an_object_does_not_come_back_in_a_list_of_them() -> None:
    listed = [{"domain": "example.com", "id": "c"}, [{"domain": "x"}], "text"]
    deselected = (("company", "domain"),)
    shaped = shape("leads", {"id": "1", "company": listed}, deselected=deselected)
    assert shaped["additional_properties"] == {"company": [{"id": "c"}, [{}], "text"]}


# Instead of the SDK


def test_the_sdk_leaves_records_alone() -> None:
    for name in STREAMS:
        level = declared_stream(name).TYPE_CONFORMANCE_LEVEL
        assert level is TypeConformanceLevel.NONE


def test_a_run_selects_and_types_without_the_sdk(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    catalog = only("leads")
    entries(catalog)["leads"]["schema"]["properties"] |= {
        "flag": {"type": ["boolean", "null"]},
        "ratio": {"type": ["number", "null"]},
        "found_at": {"type": ["string", "null"], "format": "date-time"},
    }
    domain = ("properties", "company", "properties", "domain")
    for column in (("properties", "title"), domain):
        select(catalog, "leads", *column, selected=False)
    company = '{"name": "Example", "domain": "example.com", "size": 1.50}'
    found_at = "2026-03-01T01:00:00+05:45"
    texts = (
        f"""{{"id": "a", "title": "CTO", "flag": false, "ratio": 0.10,
        "found_at": "{found_at}", "company": {company}}}""",
        f"""{{"id": "b", "title": {{}}, "flag": 1, "ratio": NaN,
        "found_at": "soon", "company": {company[:-1]}, "id": 5}}}}""",
    )
    sandbox.configure(api_key=config["api_key"], sizes={"leads": 0})
    sandbox.insert("leads", texts=texts)
    run = tap(config, catalog=catalog).succeeded()
    rows = {row["id"]: row for row in run.records("leads")}
    one, other = rows["a"], rows["b"]
    assert not {"title"} & {*one, *other, *run.schema("leads")["properties"]}
    assert one["company"] == {"name": "Example", "size": Decimal("1.50")}
    assert (one["flag"], str(one["ratio"])) == (False, "0.1")
    assert one["found_at"] == "2026-02-28T19:15:00.000000Z"
    assert one["additional_properties"] is None
    columns = ("flag", "ratio", "found_at", "company")
    assert [other[name] for name in columns] == [None] * 4
    assert other["additional_properties"] == {
        "flag": 1,
        "found_at": "soon",
        "company": {"name": "Example", "size": Decimal("1.50"), "id": 5},
    }
