"""What is said of files: settings, states and catalogs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.entering import nested
from tests.support.helpers import STREAMS, entries, only
from tests.support.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    Catalog = dict[str, Any]


def _entry(stream: str, **changes: Any) -> Callable[[], Catalog]:
    def make() -> Catalog:
        catalog = only(*STREAMS)
        entries(catalog)[stream].update(changes)
        return catalog

    return make


def _renamed() -> Catalog:
    catalog = only(*STREAMS)
    entries(catalog)["leads"]["tap_stream_id"] = "lead"
    return catalog


def _added(column: dict[str, Any]) -> Catalog:
    catalog = only(*STREAMS)
    entries(catalog)["leads"]["schema"]["properties"]["x"] = column
    return catalog


_NESTED = json.loads(nested(65))


def _older() -> Catalog:
    catalog = only("leads")
    metadata = [{"breadcrumb": [], "metadata": {"selected": False}}]
    catalog["streams"].append({"tap_stream_id": "invoices", "metadata": metadata})
    return catalog


FILES = (
    Message(
        text="--config: …: No such file or directory",
        arguments=("--config=settings.json",),
        cause="There is no file of settings at the path.",
        cure="Correct the path. Relative paths begin at the working folder.",
    ),
    Message(
        text="--config: there is no such file; give the path of a JSON file, or ENV for "
        "environment variables, not the settings themselves (the value is not "
        "shown, as it may hold the key)",
        arguments=('--config={"page_size": 1}',),
        cause="Settings were given in place of a path.",
        cure="Put them into a file or into the environment.",
    ),
    Message(
        text="--config: …: must be a JSON object of settings",
        files={"--config": "[]"},
        cause="The file is JSON, but holds no settings.",
        cure='Write names and values: {"base_url": …}.',
    ),
    Message(
        text="--config: …: is nested too deeply",
        files={"--config": "[" * 100_000},
        cause="The file holds lists or objects within each other that no setting has.",
        cure='Write names and values: {"base_url": …}.',
    ),
    Message(
        text="--state: …: No such file or directory; …",
        arguments=("--state=state.json",),
        cause="There is no state at the path.",
        cure="Correct the path; for a first load, leave --state out.",
    ),
    Message(
        text="--state: …: the state of leads is nested too deeply",
        state={"bookmarks": {"leads": {"coverage": _NESTED}}},
        cause="The file holds no state of this tap.",
        cure="Give the value of the last STATE that the tap wrote.",
    ),
    Message(
        text="--state: …: is empty; give the value of the last STATE that the tap wrote, "
        "or leave --state out to read everything",
        files={"--state": ""},
        cause="The state's file holds nothing, as if the run before had written none.",
        cure="Give the last state that was stored, or none.",
    ),
    Message(
        text="--state: …; give the value of the last STATE that the tap wrote, or leave "
        "--state out to read everything",
        files={"--state": '{"bookmarks": ['},
        cause="The file holds no state; it may have been cut off.",
        cure="Give the last state that was stored whole, or none.",
    ),
    Message(
        text="--state: …: give only the state, which is under the key singer_state",
        files={"--state": '{"singer_state": {"bookmarks": {}}}'},
        cause="The file is what `meltano state get` prints, in which the state stands.",
        cure="Take the state out: `jq .singer_state`.",
    ),
    Message(
        text="--catalog: …: is empty; give what --discover prints, or leave --catalog out "
        "to read all streams",
        files={"--catalog": ""},
        cause="The catalog's file holds nothing; discovery may have failed.",
        cure="Make it anew: `tap-leadintent --config … --discover > catalog.json`.",
    ),
    Message(
        text="--catalog: …; give what --discover prints, or leave --catalog out to read "
        "all streams",
        files={"--catalog": '{"streams": {}}'},
        cause="The file is not a catalog.",
        cure="Make it anew: `tap-leadintent --config … --discover > catalog.json`.",
    ),
    Message(
        text="--catalog: …: lead: there is no such stream; did you mean leads? - at `…`",
        catalog=_renamed,
        cause="The catalog selects a stream that there is not.",
        cure="Correct the name, or deselect it.",
    ),
)

CATALOG = (
    Message(
        text="no stream is selected; in Meltano add rules such as leads.* to select, "
        'elsewhere put "selected": true into the metadata of a stream',
        catalog=only,
        cause="The catalog deselects every stream, so there is nothing to load.",
        cure="Select what you want.",
    ),
    Message(
        text="catalog: leads: there is no replication method LOG_BASED; choose one of "
        "FULL_TABLE, INCREMENTAL",
        catalog=_entry("leads", replication_method="LOG_BASED"),
        cause="The tap knows two ways to read a stream.",
        cure="Choose one of them (in Meltano: `replication-method` in `metadata`).",
    ),
    Message(
        text="catalog: observations: the replication key observed is not a column; did you "
        "mean observed_at?",
        catalog=_entry("observations", replication_key="observed"),
        cause="The replication key is not a column of the stream.",
        cure="Choose a column (in Meltano: `replication-key` in `metadata`).",
    ),
    Message(
        text="catalog: leads: the key column found is not a column; choose a column of its "
        "schema",
        catalog=_entry("leads", key_properties=["id", "found"]),
        cause="A part of the key is not a column of the stream.",
        cure="Choose columns (in Meltano: `key-properties` in `metadata`).",
    ),
    Message(
        text="--catalog: …: leads: column x: its schema is not a valid JSON schema (…) - at `…`",
        catalog=lambda: _added({"type": "text"}),
        cause="A column that was added, such as by Meltano's `schema`, has no valid schema.",
        cure="Correct it; `type` takes string, number, integer, boolean, object, array, null.",
    ),
    Message(
        text="--catalog: …: leads: column x: its schema is nested too deeply - at `…`",
        catalog=lambda: _added({"default": _NESTED}),
        cause="A column that was added has objects within objects, too many for any warehouse.",
        cure="Declare the outer ones alone: an object is open to fields without a schema.",
    ),
    Message(
        text="Ignored in the catalog: there is no stream invoices",
        level="WARNING",
        code=0,
        catalog=_older,
        cause="The catalog is of another release of the tap, or of another tap.",
        cure="Make it anew when convenient.",
    ),
)
