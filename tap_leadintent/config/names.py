"""Finds names that cannot be meant, and suggests the right ones."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from singer_sdk import Stream
from singer_sdk.singerlib import Catalog
from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL

from tap_leadintent.openapi import ADDITIONAL_PROPERTIES, TAP_COLUMNS, record_fields

_METHODS = (REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL)


def did_you_mean(name: str, known: Iterable[str], inside: str = "") -> str:
    """Suggest a known name, as the end of a message about an unknown one.

    Args:
        name: The unknown name.
        known: The known names.
        inside: What to put before the suggestion, such as the object with a dot.

    Returns:
        A clause with the nearest known name, empty if none is near.
    """
    # Some warehouses show names in upper case.
    near = get_close_matches(name.lower(), [*known], n=1, cutoff=0.75)
    return f"; did you mean {inside}{near[0]}?" if near else ""


def unknown(names: Iterable[str], known: Iterable[str], what: str) -> Iterator[str]:
    """Find unknown names.

    Args:
        names: Names, as given.
        known: All names that there are.
        what: What they are names of.

    Yields:
        A line for each unknown name, beginning with it.
    """
    known = [*known]
    for name in names:
        if name not in known:
            yield f"{name}: there is no such {what}{did_you_mean(name, known)}"


def mistaken_field(name: str, stream: str) -> str:
    """Check a name in `exclude_fields`; a mistyped one would let its field through.

    Args:
        name: The name, with dots for a nested field.
        stream: The stream.

    Returns:
        What is wrong. Empty if it is documented, or so unlike what is documented that
        it may be a field that the API description does not show.
    """
    fields: Mapping[str, Mapping[str, Any]] = {
        **record_fields(stream),
        **{made: {} for made in TAP_COLUMNS},
    }
    is_odd = "*" in name or "__" in name or "" in name.split(".")
    if is_odd or name.startswith(f"{ADDITIONAL_PROPERTIES}."):
        return "is not the name of a field of the API; nested ones are company.name"
    above = ""
    for part in name.split("."):
        if part not in fields:
            hint = did_you_mean(part, fields, above)
            return hint and f"there is no such field{hint}"
        above += f"{part}."
        fields = fields[part].get("items", fields[part]).get("properties", {})
    return ""


def catalog_problems(catalog: Catalog, streams: Mapping[str, Stream]) -> Iterator[str]:
    """Check what a catalog says about what is selected; the SDK accepts anything.

    Args:
        catalog: The catalog of the run.
        streams: All streams, to which the catalog has been applied.

    Yields:
        A line for each problem.
    """
    selected = [name for name in catalog if name in streams and streams[name].selected]
    if not selected:
        yield (
            "no stream is selected; in Meltano add rules such as leads.* to select, "
            'elsewhere put "selected": true into the metadata of a stream'
        )
    wanted = [n for n in catalog if catalog[n].metadata.resolve_selection()[()]]
    for problem in unknown(wanted, streams, "stream"):
        yield f"catalog: {problem}"
    for name in selected:
        stream = streams[name]
        method = stream.replication_method
        if method not in _METHODS:
            yield (
                f"catalog: {name}: there is no replication method {method}; choose "
                f"one of {', '.join(_METHODS)}"
            )
        columns = stream.effective_schema.get("properties", {})
        keys = [stream.replication_key, *stream.primary_keys]
        for key in dict.fromkeys(filter(None, keys)):
            if key not in columns:
                hint = did_you_mean(key, columns) or "; choose a column of its schema"
                yield f"catalog: {name}: the key {key} is not a column{hint}"
