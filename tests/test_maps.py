"""Stream maps: what a map sets comes back nowhere, and what fails says why."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.support.batching import batch_config, deselecting
from tests.support.helpers import (
    STREAMS,
    entries,
    only,
)
from tests.support.model import DAY, Api, steady
from tests.support.model_runs import run
from tests.support.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

SECRET = "Ada Lovelace"  # noqa: S105 - what a user wants kept out
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}

ODD = {
    "id": "odd",
    "full_name": {"name": SECRET},
    "title": ["CTO", SECRET],
    "company": {"name": "n", "industry": "kept"},
    "email": SECRET,
    "new": "kept",
}
PLAIN = {**ODD, "id": "plain", "full_name": SECRET, "title": "CTO"}


@pytest.fixture(params=["records", "batches"])
def load(
    request: pytest.FixtureRequest,
    tap: Callable[..., Run],
    sandbox: Sandbox,
    config: dict[str, Any],
    tmp_path: Path,
) -> Callable[..., dict[str, dict[str, dict[str, Any]]]]:
    """Run the tap over two odd leads; give the rows by table and id."""
    sandbox.configure(api_key=config["api_key"], sizes=dict.fromkeys(STREAMS, 0))
    sandbox.insert("leads", ODD, PLAIN)
    sandbox.insert("monitored_leads", {**ODD, "id": "monitored"})
    in_batches = request.param == "batches"

    def rows(
        maps: dict[str, Any], *streams: str, **settings: Any
    ) -> dict[str, dict[str, dict[str, Any]]]:
        settings |= {"batch_config": batch_config(tmp_path)} if in_batches else {}
        catalog = only(*(streams or ["leads"]))
        done = tap({**config, "stream_maps": maps, **settings}, catalog=catalog)
        assert SECRET not in done.stderr
        tables: dict[str, dict[str, dict[str, Any]]] = {}
        for message in done.succeeded().messages:
            columns = done.schema(message["stream"]) if "stream" in message else {}
            for row in records_of(message):
                assert row.keys() <= columns["properties"].keys()
                rest = row.get("additional_properties")
                if isinstance(rest, str):
                    row["additional_properties"] = json.loads(rest)
                tables.setdefault(message["stream"], {})[row["id"]] = row
        return tables

    return rows


def records_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the records of a RECORD or BATCH."""
    files = [Path(urlsplit(url).path) for url in message.get("manifest", ())]
    lines = b"".join(gzip.decompress(file.read_bytes()) for file in files).splitlines()
    return [message["record"]] if "record" in message else [*map(json.loads, lines)]


MASKS: dict[str, dict[str, Any]] = {
    "nulls": {"full_name": None, "title": "__NULL__", "email": None},
    "hashes": {
        "full_name": "md5(full_name) if full_name else None",
        "title": "'x'",
        "email": "md5(record.get('email') or '')",
    },
    "alias": {"__alias__": "'leads'", "full_name": None, "title": "'x'", "email": None},
    "else": {
        "id": "id",
        "additional_properties": "additional_properties",
        "email": None,
        "__else__": None,
    },
    "dumped": {
        "full_name": None,
        "title": None,
        "email": None,
        "additional_properties": "json.dumps(additional_properties)",
    },
}


@pytest.mark.parametrize("flat", [{}, FLAT], ids=["nested", "flat"])
@pytest.mark.parametrize("sets", MASKS.values(), ids=MASKS)
def test_what_a_map_sets_comes_back_nowhere(
    load: Callable[..., Any], sets: dict[str, Any], flat: dict[str, Any]
) -> None:
    """Also without a column, and where it contradicts the type of its column."""
    leads = load({"leads": sets}, **flat)["leads"]
    assert leads.keys() == {"odd", "plain"}
    assert SECRET not in json.dumps(leads)
    for row in leads.values():
        rest = row["additional_properties"]
        assert rest["new"] == "kept"
        assert not {"full_name", "title", "email"} & rest.keys()


def test_each_map_of_a_stream_hides_what_it_sets_itself(
    load: Callable[..., Any],
) -> None:
    everything = {"full_name": None, "title": None, "email": None}
    tables = load(
        {
            "lead*": everything,
            "copies": {"__source__": "leads"},
            "titles": {"__source__": "leads", "full_name": "'x'"},
            "kept": {"__source__": "leads", "title": "title", "email": None},
            "monitor*": everything,
        },
        "leads",
        "monitored_leads",
    )
    monitored = json.dumps(tables.pop("monitored_leads"))
    rest = {name: rows["odd"]["additional_properties"] for name, rows in tables.items()}
    name, title = {"full_name": ODD["full_name"]}, {"title": ODD["title"]}
    email, new = {"email": SECRET}, {"new": "kept"}
    assert rest == {
        "leads": new,
        "copies": {**name, **title, **email, **new},
        "titles": {**title, **email, **new},
        "kept": {**name, **title, **new},
    }
    assert tables["copies"]["plain"]["full_name"] == SECRET
    assert SECRET not in monitored
    assert "kept" in monitored


def test_a_flat_name_that_a_map_sets_comes_back_nowhere(
    load: Callable[..., Any], sandbox: Sandbox
) -> None:
    maps = {"leads": {"company__name": None, "company__industry": None}}
    settings = {"flattening_enabled": True, "flattening_max_depth": 2}
    odd = {**PLAIN, "company": {"name": {"x": SECRET}, "industry": {"x": SECRET}}}
    sandbox.insert("leads", {**odd, "id": "odd"})
    leads = load(maps, **settings)["leads"]
    assert "company__name" not in leads["plain"]
    for row in leads.values():
        assert not any("company" in name for name in row["additional_properties"])


def test_a_mapped_object_is_flattened_by_its_columns(load: Callable[..., Any]) -> None:
    maps = {"leads": {"company": "{'name': 'x', 'size': 5}"}}
    row = load(maps, **FLAT)["leads"]["plain"]
    assert row["company__name"] == "x"
    assert row["additional_properties"]["company__size"] == 5
    assert "company__industry" not in row["additional_properties"]


def test_additional_properties_that_are_mapped_away_stay_away(
    load: Callable[..., Any],
) -> None:
    leads = load({"leads": {"additional_properties": None}}, **FLAT)["leads"]
    assert "kept" not in json.dumps(leads)


class FlatStore(Store):
    """A store for records in which `additional_properties` are text."""

    def write_message(self, message: Any) -> None:
        """Take a message of the tap, however its records look."""
        self.messages.append(json.loads(json.dumps(message.to_dict(), default=str)))


def test_what_is_deselected_is_not_flattened() -> None:
    api, store = Api(now=DAY, leads=steady(5)), FlatStore()
    run(api, store, FLAT, catalog=deselecting("signal", "observed_at"))
    (schema,) = store.of_type("SCHEMA")
    columns = schema["schema"]["properties"]
    assert "signal__observed_at" not in columns
    found = [message["record"] for message in store.of_type("RECORD")]
    assert len(found) == 5
    for row in found:
        assert row.keys() == columns.keys()
        assert json.loads(row["additional_properties"]) == {"version": 0}


# What fails


@pytest.mark.parametrize(
    ("sets", "expression", "what"),
    [
        ({"email": "md5(email)"}, "md5(email)", "(NameNotDefined)"),
        ({"email": "md5(self)"}, "md5(self)", "(NameNotDefined)"),
        (
            {"email": "additional_properties['email']"},
            "additional_properties['email']",
            "(KeyError)",
        ),
        ({"__filter__": "company['new']"}, "company['new']", "(KeyError)"),
        ({"number": "int(full_name)"}, "int(full_name)", "(ValueError)"),
        ({"x": "(lambda: 1)()"}, "(lambda: 1)()", "(FeatureNotAvailable)"),
        (
            {"hash": "md5(country_code)"},
            "md5(country_code)",
            "(AttributeError: 'NoneType' object has no attribute 'encode')",
        ),
    ],
    ids=str,
)
def test_an_expression_fails_at_the_first_record_without_its_values(  # noqa: PLR0913, PLR0917 - fixtures
    tap: Callable[..., Run],
    sandbox: Sandbox,
    config: dict[str, Any],
    sets: dict[str, Any],
    expression: str,
    what: str,
) -> None:
    sandbox.configure(api_key=config["api_key"], sizes={"leads": 0})
    sandbox.insert("leads", PLAIN)
    done = tap({**config, "stream_maps": {"leads": sets}}, catalog=only("leads"))
    line = done.failed()
    assert f"leads: the map expression {expression!r} failed on a record {what}" in line
    assert "make it a column (`schema`) or name it in `exclude_fields`" in line
    assert SECRET not in done.stdout + done.stderr


def test_flattening_that_makes_one_column_of_two(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    catalog = only("leads")
    text = {"type": ["string", "null"]}
    entries(catalog)["leads"]["schema"]["properties"]["company__name"] = text
    line = tap({**config, **FLAT}, catalog=catalog).failed()
    assert line.startswith("flattening_enabled: leads: ")
    assert line.endswith("company__name")
