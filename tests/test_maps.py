"""Stream maps: what a map sets comes back nowhere, and what fails says why."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import Json, RunTap, deselecting, entries, only

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
PLAIN = {
    **ODD,
    "id": "plain",
    "full_name": SECRET,
    "title": "CTO",
}


@pytest.fixture
def load(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> Callable[..., dict[str, dict[str, Json]]]:
    """Run the tap over two odd leads; give the rows by table and id."""
    sandbox.configure(
        api_key=config["api_key"],
        sizes={"leads": 0},
    )
    sandbox.insert("leads", ODD, PLAIN)

    def rows(
        maps: Json,
        catalog: Json | None = None,
        **settings: Any,
    ) -> dict[str, dict[str, Json]]:
        settings = {
            **config,
            "stream_maps": maps,
            **settings,
        }
        done = tap(settings, catalog=catalog or only("leads")).succeeded()
        assert SECRET not in done.stderr
        tables: dict[str, dict[str, Json]] = {}
        for message in done.messages:
            if message["type"] == "RECORD":
                name = message["stream"]
                row = message["record"]
                assert row.keys() <= done.schema(name)["properties"].keys()
                extra = row.get("additional_properties")
                if isinstance(extra, str):
                    row["additional_properties"] = json.loads(extra)
                tables.setdefault(name, {})[row["id"]] = row
        return tables

    return rows


MASKS: dict[str, Json] = {
    "nulls": {
        "full_name": None,
        "title": "__NULL__",
        "email": None,
    },
    "hashes": {
        "full_name": "md5(full_name) if full_name else None",
        "title": "'x'",
        "email": "md5(record.get('email') or '')",
    },
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


@pytest.mark.parametrize(
    "flat",
    [{}, FLAT],
    ids=["nested", "flat"],
)
@pytest.mark.parametrize("sets", MASKS.values(), ids=MASKS)
def test_the_field_that_a_map_sets_is_in_no_other_column(
    load: Callable[..., Any],
    sets: Json,
    flat: Json,
) -> None:
    """Also without a column, and where it contradicts the type of its column."""
    leads = load({"leads": sets}, **flat)["leads"]
    assert leads.keys() == {"odd", "plain"}
    assert SECRET not in json.dumps(leads)
    for row in leads.values():
        extra = row["additional_properties"]
        assert extra["new"] == "kept"
        assert not {"full_name", "title", "email"} & extra.keys()


def test_each_map_of_a_stream_hides_what_it_sets_itself(
    load: Callable[..., Any],
) -> None:
    everything = {
        "full_name": None,
        "title": None,
        "email": None,
    }
    same = {"title": "title", "full_name": "self"}
    copies = {
        "__source__": "leads",
        **same,
        "titles": "id",
        "email": None,
    }
    # Of a stream that is not selected, maps do not matter.
    others = {
        "custom_signals": {"x": "id"},
        "__else__": None,
    }
    tables = load(
        {
            "lead*": everything,
            "copies": copies,
            **others,
        }
    )
    assert tables.keys() == {"leads", "copies"}
    lead = tables["leads"]["odd"]
    assert lead["additional_properties"] == {"new": "kept"}
    copy = tables["copies"]["odd"]
    assert copy["additional_properties"] == {
        "full_name": ODD["full_name"],
        "title": ODD["title"],
        "new": "kept",
    }
    assert tables["copies"]["plain"]["full_name"] == SECRET


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("company__name", None),
        ("company__new", "__NULL__"),
        ("company__new", "'x'"),
    ],
)
def test_a_map_cannot_set_a_nested_field_by_its_flat_name(
    tap: RunTap,
    config: Json,
    name: str,
    value: str | None,
) -> None:
    maps = {"stream_maps": {"leads": {name: value}}}
    line = tap(
        {
            **config,
            **FLAT,
            **maps,
        },
        catalog=only("leads"),
    ).failed()
    assert line.startswith(f"flattening_enabled: leads: {name} would be a part of ")


def test_additional_properties_that_are_mapped_away_stay_away(
    load: Callable[..., Any],
) -> None:
    leads = load({"leads": {"additional_properties": None}}, **FLAT)["leads"]
    assert "kept" not in json.dumps(leads)


def test_what_is_deselected_is_not_flattened(load: Callable[..., Any]) -> None:
    catalog = deselecting("company", "name")
    for row in load({}, catalog, **FLAT)["leads"].values():
        assert "company__name" not in row | row["additional_properties"]
        assert row["additional_properties"]["company__industry"] == "kept"


# What fails


# What Python says of the second would quote the value.
@pytest.mark.parametrize("expression", ["signal['title']", "int(full_name)"])
@pytest.mark.parametrize("name", ["x", "__filter__"])
def test_an_expression_fails_at_the_first_record_without_its_values(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    name: str,
    expression: str,
) -> None:
    sandbox.configure(
        api_key=config["api_key"],
        sizes={"leads": 0},
    )
    sandbox.insert("leads", PLAIN)
    maps = {"stream_maps": {"leads": {name: expression}}}
    done = tap(
        {**config, **maps},
        catalog=only("leads"),
    )
    assert f"correct the map expression {expression!r}, which failed" in done.failed()
    assert SECRET not in done.stdout + done.stderr


NO_COLUMN = "there is no such column or function"
NO_NAME = "there is no such name in stream_map_config"


@pytest.mark.parametrize(
    ("name", "expression", "given", "problem"),
    [
        ("x", "md5(fullname)", {}, f"fullname: {NO_COLUMN}; did you mean full_name?"),
        ("__filter__", "Title == ''", {}, f"Title: {NO_COLUMN}; did you mean title?"),
        ("title", "uper(title)", {}, f"uper: {NO_COLUMN}"),
        ("email", "self", {}, f"self: {NO_COLUMN}"),
        ("__filter__", "title == config['name']", {}, f"name: {NO_NAME}"),
        (
            "x",
            "md5(config['salt'] + config['slat'])",
            {"salt": "s"},
            f"slat: {NO_NAME}; did you mean salt?",
        ),
    ],
    ids=str,
)
def test_an_unknown_name_is_found_before_the_first_request(  # noqa: PLR0913, PLR0917 - fixtures
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    name: str,
    expression: str,
    given: Json,
    problem: str,
) -> None:
    maps = {
        "leads": {name: expression},
        "custom_signals": {"x": "no_name"},
    }
    settings = {"stream_maps": maps, "stream_map_config": given}
    line = tap(
        {**config, **settings},
        catalog=only("leads"),
    ).failed()
    assert line == f"stream_maps.leads.{name}: {problem}"
    assert not sandbox.requests()


def test_an_expression_may_ask_whether_the_configuration_has_a_name(
    load: Callable[..., Any],
) -> None:
    maps = {
        "x": "config['a'] if 'a' in config else 'none'",
        "y": "str('config')",
    }
    row = load({"leads": maps})["leads"]["plain"]
    assert row["x"] == "none"
    assert row["y"] == "config"


def test_names_that_an_expression_may_use(load: Callable[..., Any]) -> None:
    expression = "[n for n in [config['a'], record['id'], _['id'], str(1)] if n]"
    maps = {
        "leads": {
            "x": expression,
            "title": "self",
            "y": "title or None",
        }
    }
    assert load(maps, stream_map_config={"a": 1})["leads"]["plain"]["x"] == [
        1,
        *["plain"] * 2,
        "1",
    ]


def test_flattening_that_gives_two_columns_one_name(tap: RunTap, config: Json) -> None:
    catalog = only("leads")
    text = {"type": ["string", "null"]}
    entries(catalog)["leads"]["schema"]["properties"]["company__name"] = text
    line = tap({**config, **FLAT}, catalog=catalog).failed()
    assert line.startswith("flattening_enabled: leads: ")
    assert line.endswith("company__name")
