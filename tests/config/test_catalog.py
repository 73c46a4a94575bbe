"""The catalog: what cannot be meant is an error before the first request."""

from operator import itemgetter

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import (
    STREAMS,
    VALID,
    Json,
    RunTap,
    each_reading_entry,
    entries,
    errors,
    only,
    select,
    where,
)

FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}

# Each changes an entry of the catalog, and gives the end of the one line that follows.
MISTAKES: dict[str, tuple[Json, str]] = {
    "custom_signals": (
        {"replication_method": "incremental"},
        "the replication method incremental: there is no such method, only FULL_TABLE",
    ),
    "leads": (
        {"key_properties": ["id", "found"]},
        "the key found: there is no such column",
    ),
    "observations": (
        {"replication_key": "observed"},
        "the key observed: there is no such column; did you mean observed_at?",
    ),
}


def mistaken() -> Json:
    catalog = only(*STREAMS)
    for stream, (change, _) in MISTAKES.items():
        entries(catalog)[stream].update(change)
    return catalog


@each_reading_entry
def test_each_mistake_is_one_line_and_no_request(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    arguments: list[str],
) -> None:
    run = tap(config, *arguments, catalog=mistaken())
    run.failed()
    messages = sorted(errors(run.stderr))
    for (stream, (_, line)), found in zip(
        MISTAKES.items(),
        messages,
        strict=True,
    ):
        assert found.startswith(f"catalog: {stream}: {line}")
    assert not sandbox.requests()


@pytest.mark.parametrize(
    ("entry", "metadata"),
    [
        ("INCREMENTAL", "FULL_TABLE"),
        ("FULL_TABLE", None),
    ],
)
def test_the_method_stands_in_the_metadata_or_in_the_entry(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    entry: str,
    metadata: str | None,
) -> None:
    """Meltano sets both."""
    catalog = only("leads")
    found = {"selected": True, "replication-method": metadata}
    change = {"metadata": [{"breadcrumb": [], "metadata": found}]}
    entries(catalog)["leads"] |= {"replication_method": entry, **change}
    tap(config, catalog=catalog).succeeded()
    (request,) = sandbox.requests()
    assert request["body"].keys() == {"cursor"}


def test_what_is_deselected_does_not_matter(tap: RunTap, config: Json) -> None:
    catalog = mistaken()
    for stream in MISTAKES:
        select(catalog, stream, selected=False)
    run = tap(config, catalog=catalog).succeeded()
    for stream in STREAMS:
        assert bool(run.records(stream)) == (stream not in MISTAKES)


def test_a_column_whose_schema_is_invalid(tap: RunTap) -> None:
    catalog = only("leads", "observations")
    column = {"properties": {"a": {"items": 1}}}
    entries(catalog)["leads"]["schema"]["properties"]["x"] = column
    line = tap(VALID, catalog=catalog).failed()
    place = "$.properties.x.properties.a.items"
    assert line.startswith("--catalog ")
    assert f"/catalog.json: leads: {place}: 1 is not " in line


@each_reading_entry
@pytest.mark.parametrize(
    "settings",
    [{}, {"objects_as_text": True}, FLAT],
    ids=str,
)
def test_a_stream_without_a_schema(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    settings: Json,
    arguments: list[str],
) -> None:
    catalog = only("leads", "custom_signals")
    del entries(catalog)["leads"]["schema"]
    line = tap(
        {**config, **settings},
        *arguments,
        catalog=catalog,
    ).failed()
    assert line.startswith("catalog: leads: has no columns; give what --discover ")
    assert not sandbox.requests()
    select(catalog, "leads", selected=False)
    tap(
        {**config, **settings},
        *arguments,
        catalog=catalog,
    ).succeeded()


@pytest.mark.parametrize(
    "settings",
    [{}, FLAT, {"objects_as_text": True}],
    ids=str,
)
def test_the_length_of_a_text_column_is_passed_on(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    settings: Json,
) -> None:
    sandbox.insert(
        "leads",
        {
            "id": "long",
            "full_name": "Ada Lovelace",
            "title": "CTO",
        },
    )
    catalog = only("leads")
    column = {
        "type": ["string", "null"],
        "maxLength": 5,
    }
    columns = {"full_name": column, "title": column}
    entries(catalog)["leads"]["schema"]["properties"].update(columns)
    done = tap({**config, **settings}, catalog=catalog).succeeded()
    assert done.schema("leads")["properties"].items() >= columns.items()
    (row,) = where(done.records("leads"), id="long")
    assert row["full_name"] is None
    assert row["title"] == "CTO"
    assert "Ada Lovelace" in str(row["additional_properties"])


@pytest.mark.parametrize(
    "column",
    [
        {"enum": ["a"]},
        {"anyOf": [{"enum": ["a"]}]},
    ],
)
def test_a_column_without_a_type_cannot_be_flattened(tap: RunTap, column: Json) -> None:
    catalog = only("leads")
    entries(catalog)["leads"]["schema"]["properties"]["stage"] = column
    config = {**VALID, **FLAT}
    line = tap(config, catalog=catalog).failed()
    assert line == ("flattening_enabled: leads: a column has no type")


@pytest.mark.parametrize(
    "catalog",
    [only(), {"streams": []}],
    ids=["none", "empty"],
)
def test_an_empty_selection_is_an_error(tap: RunTap, catalog: Json) -> None:
    line = tap(VALID, catalog=catalog).failed()
    assert line.startswith("no stream is selected; in Meltano add rules such as ")


@pytest.mark.parametrize("selected", [True, False])
def test_an_unknown_stream(
    tap: RunTap,
    config: Json,
    *,
    selected: bool,
) -> None:
    """The SDK would ignore it, and leave out the stream that was meant.

    Deselected, the catalog may be older than the release that dropped the stream.
    """
    catalog = only("leads")
    metadata = [
        {
            "breadcrumb": [],
            "metadata": {"selected": selected},
        }
    ]
    catalog["streams"].append({"tap_stream_id": "lead", "metadata": metadata})
    run = tap(config, catalog=catalog)
    if selected:
        message = "catalog: lead: there is no such stream; did you mean leads?"
        assert run.failed() == message
    else:
        assert len(run.succeeded().records("leads")) == 3


def test_columns_that_the_catalog_adds_can_be_keys(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    catalog = only("custom_signals")
    entry = entries(catalog)["custom_signals"]
    entry["schema"]["properties"]["name"] = {"type": ["string", "null"]}
    entry.update(
        key_properties=["name"],
        replication_key="name",
    )
    run = tap(config, catalog=catalog).succeeded()
    read = run.records("custom_signals")
    held = sandbox.records("custom_signals")
    name_of = itemgetter("name")
    assert set(map(name_of, read)) == set(map(name_of, held))


def test_streams_are_read_in_the_order_of_the_catalog(
    tap: RunTap,
    config: Json,
) -> None:
    """What it does not know, as it is older than the stream, is not read."""
    catalog = only("leads", "observations", "custom_signals")
    known = entries(catalog)
    catalog["streams"] = [known["observations"], known["leads"]]
    run = tap(config, catalog=catalog).succeeded()
    first, second = run.of_type("SCHEMA")
    assert first["stream"] == "observations"
    assert second["stream"] == "leads"
