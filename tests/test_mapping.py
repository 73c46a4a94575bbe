"""Stream maps and flattening, as a whole run does them."""

from __future__ import annotations

from typing import Any

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import STREAMS, VALID, entries, only, select

NO_COLUMN = "has no such column to remove"
STAYS = "would stay in additional_properties"
REFERS = f"monitored_leads has no column full_name, so the field itself {STAYS}"
CURE = "name it in exclude_fields to keep it out, or make it a column (`schema`"
MEANT = "which leads does not have; did you mean"
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}


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
            for stream in sorted({*STREAMS} - {"leads"})
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
