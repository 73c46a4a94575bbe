"""What a run writes of mapped and flattened records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.batching import batch_config, batched, deselecting
from tests.support.helpers import entries, only
from tests.support.model import DAY, Api, steady
from tests.support.model_runs import run
from tests.support.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

SECRET = "Ada Lovelace"  # noqa: S105 - what a user wants kept out
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
HASHED = "md5(full_name) if full_name else None"


# What a run writes


ODD = {
    "id": "odd",
    "full_name": {"name": SECRET},
    "title": ["CTO", SECRET],
    "company": {"name": "n", "industry": "kept"},
    "new": "kept",
}


@pytest.fixture
def load(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> Callable[..., Run]:
    """Run the tap over two odd leads."""
    sandbox.configure(api_key=config["api_key"], sizes={"leads": 0})
    plain = {**ODD, "id": "plain", "full_name": SECRET, "title": "CTO"}
    sandbox.insert("leads", ODD, plain)
    given = only("leads")
    return lambda settings: tap({**config, **settings}, catalog=given).succeeded()


def rows(done: Run, stream: str = "leads") -> dict[str, Any]:
    """Give the records by id, `additional_properties` decoded, and check their columns.

    Under flattening `additional_properties` are text.
    """
    columns = done.schema(stream)["properties"].keys()
    found = {}
    for record in done.records(stream):
        assert record.keys() <= columns
        rest = record.get("additional_properties")
        if isinstance(rest, str):
            record["additional_properties"] = json.loads(rest)
        found[record["id"]] = record
    return found


MASKS: dict[str, tuple[dict[str, Any], Collection[str]]] = {
    "hashed": ({"full_name": HASHED, "title": "'x'"}, {"company", "new"}),
    "removed": ({"full_name": None, "title": None}, {"company", "new"}),
    "else": (
        {
            "id": "id",
            "additional_properties": "additional_properties",
            "__else__": None,
        },
        {"new"},
    ),
    "alias": ({"__alias__": "'leads'", "full_name": None, "title": "'x'"}, {"company"}),
    "dumped": (
        {
            "full_name": None,
            "title": None,
            "additional_properties": "json.dumps(additional_properties)",
        },
        {"new"},
    ),
}


@pytest.mark.parametrize("flat", [{}, FLAT], ids=["nested", "flat"])
@pytest.mark.parametrize(("definition", "kept"), MASKS.values(), ids=MASKS)
def test_what_is_mapped_away_does_not_come_back(
    load: Callable[..., Run],
    definition: dict[str, Any],
    kept: Collection[str],
    flat: dict[str, Any],
) -> None:
    done = load({"stream_maps": {"leads": definition}, **flat})
    assert SECRET not in done.stdout + done.stderr
    for row in rows(done).values():
        rest = row["additional_properties"] or {}
        assert "new" in rest
        assert not {"full_name", "title"} & {*rest}
        if flat and "company" in kept:
            assert rest["company"] == {"industry": "kept"}


def test_what_is_masked_in_one_of_two_streams_is_in_the_other(
    load: Callable[..., Run],
) -> None:
    maps = {
        "leads": {"full_name": None, "title": None},
        "copies": {"__source__": "leads"},
        "titles": {"__source__": "leads", "full_name": "'x'"},
    }
    done = load({"stream_maps": maps})
    masked, copied, titled = (rows(done, s) for s in ("leads", "copies", "titles"))
    assert masked["odd"]["additional_properties"] == {"new": "kept"}
    odd = {"full_name": ODD["full_name"], "title": ODD["title"]}
    assert copied["odd"]["additional_properties"] == {"new": "kept", **odd}
    assert copied["plain"]["full_name"] == SECRET
    assert titled["odd"]["additional_properties"] == {
        "new": "kept",
        "title": ODD["title"],
    }


def test_a_mapped_object_is_flattened_by_its_columns(load: Callable[..., Run]) -> None:
    maps = {"leads": {"company": "{'name': 'x', 'size': 5}", "title": None}}
    row = rows(load({"stream_maps": maps, **FLAT}))["plain"]
    assert row["company__name"] == "x"
    assert row["additional_properties"]["company"] == {"size": 5}


def test_additional_properties_that_are_mapped_away_stay_away(
    load: Callable[..., Run],
) -> None:
    maps = {"leads": {"additional_properties": None}}
    done = load({"stream_maps": maps, **FLAT})
    assert "kept" not in done.stdout
    assert all("additional_properties" not in row for row in rows(done).values())


def test_new_nested_fields_are_told_of_where_they_have_no_column(
    load: Callable[..., Run],
) -> None:
    def told(settings: dict[str, Any]) -> bool:
        return "'company.industry'" in load(settings).stderr

    assert told(FLAT)
    assert not told({})


class FlatStore(Store):
    """A store for records in which `additional_properties` are text."""

    def write_message(self, message: Any) -> None:
        """Take a message of the tap, however its records look."""
        self.messages.append(json.loads(json.dumps(message.to_dict(), default=str)))


@pytest.mark.parametrize("in_batches", [False, True], ids=["records", "batches"])
@pytest.mark.parametrize(
    "maps", [{}, {"stream_maps": {"leads": {"title": "'x'"}}}], ids=["plain", "map"]
)
def test_flat_records_are_the_same_in_batches(
    tmp_path: Path, *, in_batches: bool, maps: dict[str, Any]
) -> None:
    api, store = Api(now=DAY, leads=steady(5)), FlatStore()
    batches = {"batch_config": batch_config(tmp_path)} if in_batches else {}
    given = deselecting("signal", "observed_at")
    run(api, store, {**FLAT, **maps, **batches}, catalog=given)
    (schema,) = store.of_type("SCHEMA")
    found = [message["record"] for message in store.of_type("RECORD")]
    found += [row for batch in batched(store) for row in batch]
    assert len(found) == 5
    columns = schema["schema"]["properties"]
    assert "signal__observed_at" not in columns
    for row in found:
        assert row.keys() == columns.keys()
        assert "signal" not in json.loads(row["additional_properties"])
        assert json.loads(row["additional_properties"])["version"] == 0


# What fails at a record


@pytest.mark.parametrize(
    ("definition", "expression", "what"),
    [
        (
            {"shouted": "title.upper()"},
            "title.upper()",
            "(AttributeDoesNotExist)",
        ),
        (
            {"__filter__": "company['new']"},
            "company['new']",
            "(KeyError)",
        ),
        ({"number": "int(full_name)"}, "int(full_name)", "(ValueError)"),
        (
            {"hash": "md5(country_code)"},
            "md5(country_code)",
            "(AttributeError: 'NoneType' object has no attribute 'encode')",
        ),
    ],
    ids=str,
)
def test_an_expression_that_fails_is_named_without_the_values(  # noqa: PLR0913, PLR0917 - fixtures
    tap: Callable[..., Run],
    sandbox: Sandbox,
    config: dict[str, Any],
    definition: dict[str, Any],
    expression: str,
    what: str,
) -> None:
    sandbox.configure(api_key=config["api_key"], sizes={"leads": 0})
    given = only("leads")
    entries(given)["leads"]["schema"]["properties"]["title"] = {"type": "array"}
    sandbox.insert(
        "leads", {"id": "1", "full_name": SECRET, "title": [], "company": {}}
    )
    done = tap({**config, "stream_maps": {"leads": definition}}, catalog=given)
    line = done.failed()
    assert f"leads: the map expression {expression!r} failed on a record {what}" in line
    assert SECRET not in done.stderr
