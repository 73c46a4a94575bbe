"""Kinds of runs into PostgreSQL: every column of every row.

All rows change from run to run, objects come and go, so what is lost or stale shows.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.columns import NUMBER, TEXT, opened
from tests.support.helpers import Json, RunTap, entries, exact_json, only, select
from tests.support.rows import Row, expected_rows, flattened, without
from tests.support.schemas import Schema

STREAMS = ("leads", "monitored_leads")

ADDRESS = opened(
    city=TEXT,
    geo=opened(lat=NUMBER),
)
"""What the catalog adds to a lead's company, to have objects three deep."""

COMPANY = {
    "id": "co",
    "name": "Acme",
    "domain": "acme.example",
}
COMPLETE = {
    "full_name": "Ada Lovelace",
    "company": {
        **COMPANY,
        "address": {
            "city": "Bonn",
            "geo": {"lat": 50.75},
        },
    },
    "profile": {"url": "https://a.example", "platform": "a"},
    "signal": {"type": "hiring", "observed_at": "2026-03-01T12:00:00.5+05:45"},
    "score": {"value": 87.5, "fit": "high"},
    "qualification": {"references": [{"url": "https://a.example", "type": "x"}]},
    "email": "ada@acme.example",
}
CONTENTS: list[Json] = [
    COMPLETE,
    {},
    {
        "company": {
            **COMPANY,
            "industry": {"code": 5},
            "address": {"zip": "1"},
        }
    },
    dict.fromkeys(COMPLETE),
    {
        "company": {},
        "signal": {},
        "score": {},
        "new": [1, {"deep": None}],
    },
    {
        "company": {
            "address": {
                "city": None,
                "geo": {"lat": None, "new": True},
            }
        }
    },
    {
        **COMPLETE,
        "company": {"address": None},
        "full_name": "",
    },
    {"profile": {"url": "https://b.example", "new": {}}},
]
"""What leads say at first; in the next run each says what the one after it said."""

FULL_NAME = "md5(full_name) if full_name else None"
MAPS: Json = {
    "leads": {
        "full_name": FULL_NAME,
        "profile": None,
        "domain": "company.get('domain') if company else None",
    },
    "monitored_leads": {"full_name": FULL_NAME},
}


def hashed(stream: str, row: Row) -> Row:
    """Do what these maps do."""
    name = row["full_name"]
    digest = hashlib.md5((name or "").encode(), usedforsecurity=False).hexdigest()
    masked = {
        **without("full_name")(row),
        "full_name": digest if name else None,
    }
    if stream == "monitored_leads":
        return masked
    domain = (row["company"] or {}).get("domain")
    return {
        **without("profile")(masked),
        "domain": domain,
    }


def catalog(*deselected: str) -> Json:
    """Select both streams, but for fields of leads; add columns to both."""
    selected = only(*STREAMS)
    by_stream = entries(selected)
    columns = by_stream["leads"]["schema"]["properties"]
    columns["company"]["properties"]["address"] = ADDRESS
    columns = by_stream["monitored_leads"]["schema"]["properties"]
    columns["full_name"] = TEXT
    for name in deselected:
        select(
            selected,
            "leads",
            *name.split("."),
            selected=False,
        )
    return selected


def flat(stream: str, row: Row) -> Row:
    """Do what flattening does."""
    return flattened(row, entries(catalog())[stream]["schema"]["properties"])


@dataclass(frozen=True)
class Kind:
    """A kind of run.

    Attributes:
        expected: Returns the row that is expected, from the stream's ordinary row.
        settings: What it sets.
        deselected: Fields of leads, with dots for nested ones.
    """

    expected: Callable[[str, Row], Row] = lambda _, row: row
    settings: Json = field(default_factory=dict)
    deselected: tuple[str, ...] = ()


FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
DESELECTED = ("full_name", "company.domain", "score")
EXCLUDED = {
    "leads": ("company.address.geo", "qualification.references.url"),
    "monitored_leads": ("full_name", "email", "profile.url"),
}


def taken_out(stream: str, row: Row) -> Row:
    deselected = DESELECTED if stream == "leads" else ()
    return without(*deselected, *EXCLUDED[stream])(row)


KINDS = {
    "as it is": Kind(),
    "fields taken out": Kind(taken_out, {"exclude_fields": EXCLUDED}, DESELECTED),
    "mapped": Kind(hashed, {"stream_maps": MAPS}),
    "flat": Kind(flat, FLAT),
}


def found_row(row: Row) -> Row:
    """Decode what flattening makes texts of."""
    encoded = ("additional_properties", "qualification__references", "company__address")
    decoded = {**row}
    for name in encoded:
        value = row.get(name)
        if isinstance(value, str):
            decoded[name] = exact_json(value)
    return decoded


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_each_row_holds_what_the_api_said_last(
    tap: RunTap,
    schema: Schema,
    sandbox: Sandbox,
    config: Json,
    kind: Kind,
) -> None:
    config |= kind.settings
    for number in range(2):
        for stream in STREAMS:
            contents = CONTENTS[number:] + CONTENTS[:number]
            for position, content in enumerate(contents):
                sandbox.insert(stream, {**content, "id": f"odd-{position}"})
        run = tap(config, catalog=catalog(*kind.deselected)).succeeded()
        schema.load(run)
        tables = schema.tables()
        assert tables.keys() == {*STREAMS}
        for stream, rows in tables.items():
            usual = expected_rows(sandbox, stream, "full_name")
            assert rows.keys() == usual.keys()
            for key, row in usual.items():
                assert found_row(rows[key]) == kind.expected(stream, row)
