"""What is said of files: settings, states and catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def _added() -> Catalog:
    catalog = only(*STREAMS)
    entries(catalog)["leads"]["schema"]["properties"]["x"] = {"type": "text"}
    return catalog


def _older() -> Catalog:
    catalog = only("leads")
    metadata = [{"breadcrumb": [], "metadata": {"selected": False}}]
    catalog["streams"].append({"tap_stream_id": "invoices", "metadata": metadata})
    return catalog


FILES = (
    Message(
        text="--state: give only the state, which is under the key singer_state; …",
        files={"--state": '{"singer_state": {"bookmarks": {}}}'},
        cause="The file is what `meltano state get` prints, in which the state stands.",
        cure="Take the state out: `jq .singer_state`.",
    ),
    Message(
        text="--catalog: …; give what --discover prints, or none to read all",
        files={"--catalog": '{"streams": {}}'},
        cause="The file is not a catalog; it is empty if discovery has failed.",
        cure="Make it anew: `tap-leadintent --config … --discover > catalog.json`.",
    ),
)

CATALOG = (
    Message(
        text="--catalog: leads: schema.properties.x.type: …",
        catalog=_added,
        cause="A column that was added, such as by Meltano's `schema`, has no valid schema.",
        cure="Correct it; `type` takes string, number, integer, boolean, object, array, null.",
    ),
    Message(
        text="catalog: observations: the key observed is not a column; did you mean "
        "observed_at?",
        catalog=_entry("observations", replication_key="observed"),
        cause="The replication key, or a part of the key, is not a column of the stream.",
        cure="Choose columns (in Meltano: `replication-key`, `key-properties` in `metadata`).",
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
