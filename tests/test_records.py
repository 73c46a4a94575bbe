"""From the API's record to the record that a target gets."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.records import RecordShaper, record_key, signal_observed_at

from .helpers import STREAMS, declared_stream, exact_json

TIMESTAMP_FORM = "0000-00-00T00:00:00.000000Z"


def shaper(name: str, *key_properties: str) -> RecordShaper:
    """Give the shaper of a stream, with another key if one is given."""
    stream = declared_stream(name)
    return RecordShaper(
        columns=stream.schema["properties"],
        key_properties=key_properties or stream.primary_keys,
        entity=stream.entity,
    )


def shape(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """Shape a record of a stream."""
    return shaper(name).shape(record)


# Columns


@pytest.mark.parametrize("name", STREAMS)
def test_every_column_is_present(name: str) -> None:
    columns = declared_stream(name).schema["properties"]
    shaped = shape(name, {"id": "1"})
    assert shaped.keys() == columns.keys()
    assert {column for column, value in shaped.items() if value is not None} == (
        {"id", "record_key"} & columns.keys()
    )


def test_documented_fields_keep_their_values() -> None:
    record = {"id": "1", "title": "", "score": {"value": Decimal("7.50"), "new": [1]}}
    shaped = shape("leads", record)
    assert {field: shaped[field] for field in record} == record
    assert shaped["additional_properties"] is None


def test_unknown_fields_go_to_additional_properties() -> None:
    unknown = {"new": {"a": [1, None]}, "empty": None, "Id": "x", "": 0}
    shaped = shape("leads", {"id": "1", **unknown})
    assert shaped["additional_properties"] == unknown


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("leads", "signal_observed_at"),
        ("leads", "additional_properties"),
        ("observations", "record_key"),
        ("signal_accounts", "window_end"),
    ],
)
def test_a_field_named_like_a_column_of_the_tap(name: str, field: str) -> None:
    shaped = shape(name, {"id": "1", field: "the API's"})
    assert shaped["additional_properties"] == {field: "the API's"}
    assert shaped[field] != "the API's"


def test_shaping_leaves_the_record_alone() -> None:
    record = {"id": "1", "new": 1, "signal": {"observed_at": "2026-01-01T00:00:00Z"}}
    before = json.dumps(record)
    shape("leads", record)
    assert json.dumps(record) == before


# Keys


@pytest.mark.parametrize("record", [{}, {"id": None}], ids=repr)
@pytest.mark.parametrize("name", ["leads", "signal_agents"])
def test_a_record_without_its_key_is_an_error(
    name: str, record: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"no id\b"):
        shape(name, record)


def test_every_part_of_an_overridden_key_is_needed() -> None:
    history = shaper("leads", "id", "signal_observed_at")
    record: dict[str, Any] = {"id": "1", "signal": {"observed_at": None}}
    with pytest.raises(ValueError, match="no signal_observed_at"):
        history.shape(record)
    record["signal"]["observed_at"] = "2026-01-01T00:00:00Z"
    assert history.shape(record)["id"] == "1"


@pytest.mark.parametrize(
    ("record", "key"),
    [
        ({"id": "a", "lead_id": "b"}, "a"),
        ({"id": None, "lead_id": "b"}, "b"),
        ({"id": "", "lead_id": "b"}, "b"),
        ({"lead_id": "b"}, "b"),
        ({"id": 7}, "7"),
        ({"id": 0}, "0"),
        ({"id": 7000}, "7000"),
        ({"id": 12345678901234567890123}, "12345678901234567890123"),
        ({"id": Decimal("7.50")}, "7.5"),
        ({"id": False}, "false"),
        ({"id": {"b": 1, "a": ["é"]}}, '{"a":["é"],"b":1}'),
    ],
    ids=repr,
)
def test_record_key_from_an_id(record: dict[str, Any], key: str) -> None:
    assert record_key(record, "lead") == key


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (
            "{}",
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        ),
        (
            '{"account_id": "acc_1", "count": 10}',
            "fc216145c49491f18d3b31b2653942ced1e8545b6bdd21705aec53c153951349",
        ),
        (
            '{"name": "Łukasz 佐藤 🚀", "tags": [true, null, 0.5], "n": -1200}',
            "819b5a749deb085066b80f18a1d2001d50d29448576100964e04eb0048354848",
        ),
    ],
)
def test_record_key_without_an_id_is_this_digest(text: str, digest: str) -> None:
    """Other digests would duplicate every such row in the users' warehouses."""
    assert record_key(exact_json(text), "observation") == digest


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ('{"a": 1}', '{"a": 1.0}'),
        ('{"a": 1}', '{"a": 10e-1}'),
        ('{"a": 100}', '{"a": 1E+2}'),
        ('{"a": 0}', '{"a": -0.0}'),
        ('{"a": 0.5}', '{"a": 50e-2}'),
        ('{"a": 1e400}', '{"a": 0.1e401}'),
        ('{"a": [{"b": 1, "c": 2}]}', '{"a": [{"c": 2, "b": 1}]}'),
        ('{"a": "\\u00e9"}', '{"a":"é"}'),
    ],
)
def test_spelling_does_not_change_the_digest(text: str, other: str) -> None:
    assert record_key(exact_json(text), "x") == record_key(exact_json(other), "x")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": 1}', '{"a": -1}'),
        ('{"a": 1}', '{"a": 10}'),
        ('{"a": 0}', '{"a": false}'),
        ('{"a": null}', "{}"),
        ('{"a": 0.1}', '{"a": 0.1000000000000000055511151231257827}'),
        ('{"a": 1e400}', '{"a": 1e401}'),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
        ('{"account_id": "1"}', '{"account_id": "2"}'),
    ],
)
def test_another_value_changes_the_digest(text: str, other: str) -> None:
    assert record_key(exact_json(text), "x") != record_key(exact_json(other), "x")


floats = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.integers() | floats.map(lambda number: Decimal(repr(number)))


def records_of(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Give records without an id, of any shape."""
    values = st.recursive(
        st.none() | st.booleans() | numbers | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        ),
        max_leaves=8,
    )
    # Without the prefix, a field could be an id.
    names = st.text(max_size=5).map("_{}".format)
    return st.dictionaries(names, values, max_size=5)


def respelled(value: Any) -> Any:
    """Give the same value with its numbers and objects written differently."""
    if isinstance(value, dict):
        return {key: respelled(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [respelled(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return value
    sign, digits, exponent = Decimal(value).as_tuple()
    return Decimal((sign, (*digits, 0, 0), int(exponent) - 2))


@given(records_of(numbers))
def test_spelling_never_changes_the_digest(record: dict[str, Any]) -> None:
    assert record_key(respelled(record), "x") == record_key(record, "x")


@given(records_of(st.integers(-(10**20), 10**20)))
def test_the_digest_can_be_computed_elsewhere(record: dict[str, Any]) -> None:
    """It is that of the compact JSON with sorted keys, in UTF-8."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    assert record_key(record, "x") == sha256(text.encode()).hexdigest()


# Timestamps

offsets = st.timedeltas(
    timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59)
).map(lambda offset: timezone(timedelta(minutes=offset // timedelta(minutes=1))))
instants = st.datetimes(
    datetime.fromisoformat("0001-01-03"),
    datetime.fromisoformat("9999-12-29"),
    timezones=st.just(UTC),
)


def observed(text: object) -> str | None:
    """Give `signal_observed_at` of a lead whose signal was observed then."""
    return signal_observed_at({"signal": {"observed_at": text}})


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000000Z"),
        ("2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00.500000Z"),
        ("2026-03-01T12:00:00.123456789Z", "2026-03-01T12:00:00.123456Z"),
        ("2026-03-01T00:30:00+05:45", "2026-02-28T18:45:00.000000Z"),
        ("2026-03-01T12:00:00-0330", "2026-03-01T15:30:00.000000Z"),
        ("20260301T120000Z", "2026-03-01T12:00:00.000000Z"),
    ],
)
def test_signal_observed_at(text: str, column: str) -> None:
    assert observed(text) == column


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "yesterday",
        "2026-02-30T00:00:00Z",
        "2026-03-01T12:00:00",
        "2026-03-01",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        1767225600,
        True,
        {},
    ],
    ids=repr,
)
def test_what_is_no_instant_is_null(value: object) -> None:
    assert observed(value) is None
    lead = {"id": "1", "signal": {"observed_at": value}}
    assert shape("leads", lead)["signal"] == lead["signal"]


@pytest.mark.parametrize("signal", [None, "text", [], {}], ids=repr)
def test_a_lead_without_a_signal_has_no_time(signal: object) -> None:
    assert signal_observed_at({"signal": signal}) is None


@given(instants, offsets, st.sampled_from(["seconds", "milliseconds", "microseconds"]))
def test_any_offset_becomes_utc_of_fixed_width(
    instant: datetime, zone: timezone, precision: str
) -> None:
    text = instant.astimezone(zone).isoformat(timespec=precision)
    column = observed(text)
    assert column is not None
    assert "".join("0" if c.isdigit() else c for c in column) == TIMESTAMP_FORM
    assert datetime.fromisoformat(column) == datetime.fromisoformat(text)


@given(st.tuples(instants, offsets), st.tuples(instants, offsets))
def test_text_sorts_like_the_instants(
    one: tuple[datetime, timezone], other: tuple[datetime, timezone]
) -> None:
    texts = [
        observed(instant.astimezone(zone).isoformat()) or ""
        for instant, zone in (one, other)
    ]
    assert (texts[0] < texts[1]) == (one[0] < other[0])
