"""Stream maps and flattening, as a whole run does them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.batching import batch_config, batched, deselecting
from tests.support.helpers import VALID, entries, only, select
from tests.support.model import DAY, Api, run, steady
from tests.support.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

SECRET = "Ada Lovelace"  # noqa: S105 - what a user wants kept out
NO_COLUMN = "has no such column to remove"
STAYS = "would stay in additional_properties"
REFERS = f"monitored_leads has no column full_name, so the field itself {STAYS}"
CURE = "name it in exclude_fields to keep it out, or make it a column (`schema`"
MEANT = "which leads does not have; did you mean"
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
HASHED = "md5(full_name) if full_name else None"


def refused(
    maps: dict[str, Any], given: dict[str, Any] | None = None, **settings: Any
) -> list[str]:
    """Give the lines that a tap with these maps ends with before it begins."""
    config = {**VALID, "stream_maps": maps, **settings}
    try:
        TapLeadIntent(config=config, catalog=given)
    except ConfigError as error:
        return error.errors
    return []


MISTAKES: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"monitored_leads": {"full_name": None}},
        [f".monitored_leads.full_name: monitored_leads {NO_COLUMN}; {CURE}"],
    ),
    (
        {"monitored_leads": {"full_name": "__NULL__"}},
        [f".monitored_leads.full_name: monitored_leads {NO_COLUMN}; {CURE}"],
    ),
    (
        {"leads": {"ful_name": None}},
        [f".leads.ful_name: leads {NO_COLUMN}; did you mean full_name?"],
    ),
    (
        {"leads": {"company__name": None}},
        [f".leads.company__name: leads {NO_COLUMN}; {CURE}"],
    ),
    (
        {"*": {"full_name": None}},
        [
            f".*.full_name: {stream} {NO_COLUMN}; {CURE}"
            for stream in (
                *("custom_signals", "monitored_accounts", "monitored_leads"),
                *("observations", "signal_accounts", "signal_agents"),
            )
        ],
    ),
    (
        {"people": {"__source__": "monitored_leads", "full_name": None}},
        [f".people.full_name: monitored_leads {NO_COLUMN}; {CURE}"],
    ),
    *(
        (
            {"monitored_leads": {"full_name": expression}},
            [f".monitored_leads.full_name: {expression!r}: {REFERS}"],
        )
        for expression in (
            "md5(full_name)",
            "md5(record['full_name'])",
            "md5(_['full_name'])",
            "md5(record.full_name)",
            "md5(record.get('full_name') or '')",
            "md5(additional_properties['full_name'])",
            "md5(additional_properties.full_name)",
            "md5((additional_properties or {}).get('full_name', ''))",
            "record['additional_properties']['full_name'][:1]",
        )
    ),
    (
        {"monitored_leads": {"full_name": "md5(self)"}},
        [".monitored_leads.full_name: 'md5(self)' names self, which monitored_leads"],
    ),
    (
        {"leads": {"hash": "md5(ful_name)"}},
        [f".leads.hash: 'md5(ful_name)' names ful_name, {MEANT} full_name?"],
    ),
    (
        {"leads": {"hash": "sha265(title)"}},
        [f".leads.hash: 'sha265(title)' names sha265, {MEANT} sha256?"],
    ),
    (
        {"leads": {"__filter__": "record['statu'] == 'x'"}},
        [".leads.__filter__: \"record['statu'] == 'x'\" names statu, which leads does"],
    ),
    (
        {"leads": {"hash": "md5(id + config['seed'])"}},
        [
            ".leads.hash: \"md5(id + config['seed'])\" needs seed in stream_map_config",
        ],
    ),
    (
        {"leads": {"x": "lambda: 1"}},
        [".leads.x: 'lambda: 1' uses Lambda, which map expressions cannot use"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("maps", "lines"), MISTAKES, ids=[str(m) for m, _ in MISTAKES])
def test_a_map_that_cannot_do_what_it_says(
    maps: dict[str, Any], lines: list[str]
) -> None:
    found = refused(maps)
    assert len(found) == len(lines)
    for told, line in zip(found, lines, strict=True):
        assert told.startswith(f"stream_maps{line}")


@pytest.mark.parametrize(
    "maps",
    [
        {"leads": {"full_name": None, "title": "__NULL__", "company": None}},
        {"leads": {"full_name": "md5(self)", "x": "record['title'] or _.get('id')"}},
        {"leads": {"upper": "title.upper()", "hash": "md5(full_name)"}},
        {"leads": {"industry": "company['industry']", "leads": "'leads'"}},
        {"leads": {"names": "[x['label'] for x in qualification['references']]"}},
        {"monitored_leads": {"name_hash": "md5(additional_properties['full_name'])"}},
        {"monitored_leads": {"full_name": None, "additional_properties": None}},
        {
            "monitored_leads": {
                "record_key": "record_key",
                "full_name": None,
                "__else__": None,
            }
        },
        {
            "monitored_leads": {
                "full_name": "md5(additional_properties['full_name'])",
                "additional_properties": None,
            }
        },
        {"monitor*": {"record_key": "md5(record_key)"}, "__else__": None},
        {"leads": {"__alias__": "people"}, "copies": {"__source__": "leads"}},
        {"leads": {"seeded": "md5(id + config['seed'])", "s": "__stream_name__"}},
        {"leads": {"day": "datetime.date.fromisoformat(signal_observed_at[:10])"}},
        {"leads": None, "observations": "__NULL__"},
    ],
    ids=str,
)
def test_a_map_that_can(maps: dict[str, Any]) -> None:
    assert refused(maps, stream_map_config={"seed": "x"}) == []


def test_a_field_that_is_left_out_already_may_be_left_out_twice() -> None:
    maps = {"leads": {"full_name": None}, "monitored_leads": {"full_name": None}}
    given = only("leads", "monitored_leads")
    select(given, "leads", "properties", "full_name", selected=False)
    excluded = {"monitored_leads": ["full_name"]}
    assert refused(maps, given, exclude_fields=excluded) == []
    hashed = {"leads": {"x": "md5(full_name)"}}
    (line,) = refused(hashed, given)
    assert line.endswith("names full_name, which is deselected or excluded")
    (line,) = refused(hashed, exclude_fields={"leads": ["full_name"]})
    assert line.endswith("names full_name, which is deselected or excluded")


def test_only_streams_that_will_be_read_are_checked() -> None:
    assert refused({"*": {"full_name": None}}, only("leads")) == []


def test_a_column_of_the_catalog_can_be_mapped() -> None:
    given = only("monitored_leads")
    entries(given)["monitored_leads"]["schema"]["properties"]["full_name"] = {
        "type": ["string", "null"]
    }
    assert refused({"monitored_leads": {"full_name": "md5(full_name)"}}, given) == []


def test_flattening_that_makes_one_column_of_two() -> None:
    given = only("leads")
    entries(given)["leads"]["schema"]["properties"]["company__name"] = {
        "type": ["string", "null"]
    }
    (line,) = refused({}, given, **FLAT)
    assert line.startswith("flattening_enabled: leads: ")
    assert line.endswith("company__name")


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
