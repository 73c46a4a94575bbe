"""Flat records have the columns of their SCHEMA, and what has none is kept."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from singer_sdk.mapper import PluginMapper, SameRecordTransform

from tap_leadintent.findings import Findings
from tap_leadintent.singer.stream_map import Options, StreamMap
from tests.support.columns import ARRAY, OBJECT, TEXT, TIME, opened
from tests.support.helpers import Json, declared_stream

STREAM = declared_stream("leads")


def flattening(
    fields: Json,
    depth: int = 1,
    findings: Findings | None = None,
    **options: Any,
) -> StreamMap:
    """Return what flattens records with these fields."""
    options = {
        "enabled": True,
        "max_depth": depth,
        **options,
    }
    config: Any = {f"flattening_{name}": value for name, value in options.items()}
    flat = PluginMapper(
        plugin_config=config,
        logger=STREAM.logger,
    ).flattening_options
    schema = opened(
        **fields,
        additional_properties=OBJECT,
    )
    STREAM.findings = findings or Findings(STREAM.logger)
    return StreamMap(
        SameRecordTransform("leads", schema, None, None),
        {},
        STREAM,
        Options(flattening=flat),
    )


def transform(stream_map: StreamMap, record: Json) -> Json:
    """Return what a map makes of a record that it does not leave out."""
    found = stream_map.transform(record)
    assert found is not None
    return found


def flat(
    fields: Json,
    record: Json,
    depth: int = 1,
) -> Json:
    found = transform(flattening(fields, depth), record)
    extra = found.pop("additional_properties")
    return {
        **found,
        "extra": extra and json.loads(extra),
    }


COMPANY = {
    "id": TEXT,
    "company": opened(
        name=TEXT,
        hq=opened(city=TEXT),
    ),
}
HQ = {
    "city": "c",
    "zip": {"code": 1},
}
NEW: Json = {
    "new": [],
    "none": None,
    "empty": {},
}
RECORD = {
    "id": "1",
    "company": {
        "name": "n",
        **NEW,
        "sizes": {"min": 1},
        "hq": HQ,
    },
}
KEPT: Json = {"company__new": "[]"}


@pytest.mark.parametrize(
    ("depth", "columns", "extra"),
    [
        (
            1,
            {"company__name": "n", "company__hq": '{"city":"c","zip":{"code":1}}'},
            {**KEPT, "company__sizes": '{"min":1}'},
        ),
        (
            2,
            {"company__name": "n", "company__hq__city": "c"},
            {
                **KEPT,
                "company__sizes__min": 1,
                "company__hq__zip": '{"code":1}',
            },
        ),
    ],
)
def test_a_nested_field_without_a_column_is_kept_under_its_flat_name(
    depth: int,
    columns: Json,
    extra: Json,
) -> None:
    before = json.dumps(RECORD)
    assert flat(COMPANY, RECORD, depth) == {
        "id": "1",
        **columns,
        "extra": extra,
    }
    assert json.dumps(RECORD) == before


def test_only_the_contradicting_value_of_an_object_is_extra() -> None:
    company = {
        "name": 5,
        "hq": HQ,
        "new": 1,
    }
    record = {
        "company": None,
        "additional_properties": {"company": company, "x": 1},
    }
    assert flat(COMPANY, record, 2) == {
        "id": None,
        "company__name": None,
        "company__hq__city": "c",
        "extra": {
            "company__name": 5,
            "company__hq__zip": '{"code":1}',
            "company__new": 1,
            "x": 1,
        },
    }


@pytest.mark.parametrize(
    "company",
    [None, {}, {"name": None}],
    ids=str,
)
def test_a_null_object_adds_no_extra_fields(company: object) -> None:
    record = {"company": company, "emptied": {}}
    found = flat({**COMPANY, "emptied": opened()}, record)
    assert found == dict.fromkeys(("id", "company__name", "company__hq", "extra"))


@pytest.mark.parametrize(
    "value",
    ["Acme", "", 0],
    ids=repr,
)
def test_a_value_in_the_place_of_an_object_is_kept(value: object) -> None:
    found = flat(
        {"company": opened(name=TEXT)},
        {"company": value},
    )
    assert found == {
        "company__name": None,
        "extra": {"company": value},
    }


def test_a_nested_field_that_contradicts_its_column_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Within an object, which a warehouse stores as JSON, its type did not matter."""
    findings = Findings(STREAM.logger)
    flat_map = flattening(
        {
            "signal": opened(
                at=TIME,
                by=TIME,
                refs=ARRAY,
            )
        },
        findings=findings,
    )
    signal = {
        "at": "2026-03-01T12:00:00+05:45",
        "by": "soon",
        "refs": ["ü"],
        "new": 1,
    }
    assert transform(flat_map, {"signal": signal}) == {
        "signal__at": "2026-03-01T06:15:00.000000Z",
        "signal__by": None,
        "signal__refs": '["\\u00fc"]',
        "additional_properties": '{"signal__new":1,"signal__by":"soon"}',
    }
    findings.log()
    *_, contradicting = caplog.messages
    assert contradicting.endswith("'signal__by' in 1 record")


names = st.sampled_from(["a", "b", "c"])


def objects_of(columns: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Return the schemas of objects with such columns."""
    properties = st.dictionaries(
        names,
        columns,
        max_size=3,
    )
    return properties.map(lambda each: opened(**each))


schemas = st.recursive(
    st.sampled_from([TEXT, ARRAY, OBJECT]),
    objects_of,
    max_leaves=8,
)
values = st.recursive(
    st.none() | st.sampled_from(["x", "y", "z"]),
    lambda inner: st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def leaves(value: object) -> Counter[str]:
    """Count the texts that a value holds, also as JSON."""
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    if isinstance(value, dict):
        found = Counter[str]()
        for each in value.values():
            found += leaves(each)
        return found
    return Counter([value] if isinstance(value, str) else [])


@given(
    st.dictionaries(names, schemas, max_size=4),
    st.dictionaries(names, values, max_size=4),
    st.dictionaries(
        st.sampled_from("de"),
        st.sampled_from("xyz"),
    ),
    st.integers(1, 3),
    st.sampled_from(["_", "__"]),
)
def test_nothing_is_lost_and_nothing_is_undeclared(
    fields: Json,
    record: Json,
    extra: Json,
    depth: int,
    separator: str,
) -> None:
    flat_map = flattening(fields, depth, separator=separator)
    found = transform(flat_map, {**record, "additional_properties": extra})
    assert found.keys() == flat_map.transformed_schema["properties"].keys()
    assert leaves(found) == leaves({**record, "extra": extra})
