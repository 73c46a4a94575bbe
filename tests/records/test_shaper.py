"""From the API's record to the record that a target gets."""

import json
import logging
from operator import itemgetter

import pytest
from singer_sdk.helpers.conform import TypeConformanceLevel
from singer_sdk.singerlib import SelectionMask

from tap_leadintent.findings import Findings
from tap_leadintent.records.shaper import describe_left_out
from tests.support.columns import TEXT
from tests.support.helpers import STREAMS, Json, declared_stream
from tests.support.shaping import shape, shaper

# Columns


@pytest.mark.parametrize("name", STREAMS)
def test_every_column_is_present(name: str) -> None:
    stream = declared_stream(name)
    columns = stream.schema["properties"]
    shaped = shape(name, {"id": "1"})
    assert shaped.keys() == columns.keys()
    for column, value in shaped.items():
        assert (value is not None) == (column in {"id", "record_key"})
    # So the SDK need not make it.
    assert stream.TYPE_CONFORMANCE_LEVEL is TypeConformanceLevel.NONE


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
        (
            {"observed_at": "2026-03-01T00:30:00.123456789+05:45"},
            "2026-02-28T18:45:00.123456Z",
        ),
        ({"observed_at": 1767225600}, None),
        ("text", None),
    ],
    ids=repr,
)
def test_the_observation_time_of_a_leads_signal(
    signal: object,
    column: str | None,
) -> None:
    assert shape("leads", {"id": "1", "signal": signal})["signal_observed_at"] == column


def test_the_end_of_its_window_stands_in_each_record_of_a_page() -> None:
    end = "2026-03-01T00:00:00.000000Z"
    rows = shaper("monitored_leads").shape([{"id": "1"}, {"id": "2"}], end)
    assert len(rows) == 2
    for row in rows:
        assert row["window_end"] == end


def test_a_catalog_without_additional_properties() -> None:
    columns = {"record_key": TEXT}
    shaped = shape(
        "custom_signals",
        {"id": "1", "name": "x"},
        columns=columns,
    )
    assert shaped == {"record_key": "1"}


def test_each_record_of_a_page_is_shaped_as_if_it_were_alone() -> None:
    page: list[Json] = [
        {"id": "1", "title": "x"},
        {"id": "2", "title": 2},
        {
            "id": "3",
            "new": {"a": [1, None]},
            "empty": None,
            "Id": "x",
            "": 0,
        },
    ]
    before = json.dumps(page)
    rows = shaper("leads").shape(page)
    assert rows == [shape("leads", record) for record in page]
    unknown = {**page[2]}
    del unknown["id"]
    values_of = itemgetter("title", "additional_properties")
    assert list(map(values_of, rows)) == [
        ("x", None),
        (None, {"title": 2}),
        (None, unknown),
    ]
    assert json.dumps(page) == before


# Notes


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == "records"]


def test_a_value_that_a_column_cannot_hold_is_logged_unless_deselected(
    caplog: pytest.LogCaptureFixture,
) -> None:
    paths = [
        ("properties", "title"),
        ("properties", "company", "properties", "domain"),
        ("properties", "unknown"),
    ]
    findings = Findings(logging.getLogger("records"), is_documented=True)
    leads = shaper(
        "leads",
        mask=SelectionMask(dict.fromkeys(paths, False)),
        findings=findings,
    )
    company = {
        "id": 5,
        "domain": "x",
        "other": {"domain": "x"},
    }
    record = {
        "title": {"a": 1},
        "unknown": 1,
        "new": 1,
    }
    odd, listed = leads.shape(
        [
            {
                **record,
                "id": "1",
                "company": company,
                "newer": 1,
            },
            {
                **record,
                "id": "2",
                "company": [company, [{"domain": "x"}], "text"],
            },
        ]
    )
    kept = {
        "id": 5,
        "other": {"domain": "x"},
    }
    extra = odd["additional_properties"]
    assert extra == {
        "company": kept,
        "new": 1,
        "newer": 1,
    }
    assert listed["additional_properties"]["company"] == [kept, [{}], "text"]
    findings.log()
    unknown, contradicting = lines(caplog)
    assert (
        "2 fields without a column, only in additional_properties: new, newer; "
        in unknown
    )
    assert contradicting.endswith("instead: 'company' in 2 records")


# Keys


@pytest.mark.parametrize(
    "value",
    [7, False, 7.5, {"a": 1}],
    ids=repr,
)
def test_an_id_that_is_not_text_becomes_its_json(value: object) -> None:
    expected = {
        "7": "7",
        "False": "false",
        "7.5": "7.5",
    }.get(str(value), '{"a":1}')
    for name, key in (("leads", "id"), ("observations", "record_key")):
        shaped = shape(name, {"id": value})
        assert shaped[key] == expected
        assert shaped["additional_properties"] == {"id": value}


@pytest.mark.parametrize(
    ("keys", "record"),
    [
        (["id"], {"signal": {"observed_at": "2026-01-01T00:00:00Z"}}),
        (["id"], {"id": ""}),
        (
            ["id", "signal_observed_at"],
            {
                "id": "1",
                "signal": {"observed_at": None},
            },
        ),
    ],
)
def test_every_part_of_a_key_is_needed(keys: list[str], record: Json) -> None:
    findings = Findings(logging.getLogger("records"))
    leads = shaper(
        "leads",
        key_properties=keys,
        findings=findings,
    )
    fine = {
        "id": "1",
        "signal": {"observed_at": "2026-01-01T00:00:00Z"},
    }
    assert len(leads.shape([fine, record])) == 1
    line = f": 1 record without {keys[-1]} left out, everything else was read"
    (problem,) = describe_left_out(findings, [])
    assert problem.endswith(line)
