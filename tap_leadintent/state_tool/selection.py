"""Finds which streams the next run reads, from Meltano's environment or a catalog."""

import os
from collections.abc import Iterable
from fnmatch import fnmatch

import msgspec
from singer_sdk.singerlib import Catalog

from tap_leadintent.singer.errors import ConfigError
from tap_leadintent.singer.files import read_catalog

_EXTRA = "MELTANO_EXTRACT__"
"""What the names of the variables begin with in which Meltano passes its extras."""


def selected_streams(names: Iterable[str], catalog: str | None) -> dict[str, str]:
    """Return the selected streams, each with its replication method.

    Args:
        names: The names of all streams.
        catalog: The path of a catalog. Without one, the environment variables that
            `meltano invoke` sets decide. Without these, all streams are selected.

    Returns:
        The methods by the names of the streams. A method is empty if neither the
        catalog nor Meltano changes it.

    Raises:
        ConfigError: The file is not a catalog, or a variable is not a list of texts.
    """
    if catalog is not None:
        entries = Catalog.from_dict(read_catalog(catalog))
        return {
            name: entries[name].replication_method or ""
            for name in names
            if name in entries and entries[name].metadata.resolve_selection()[()]
        }
    select = _patterns("SELECT", ["*.*"])
    filters = _patterns("SELECT_FILTER", ["*"])
    if all(pattern.startswith("!") for pattern in filters):
        filters.append("*")
    return {
        name: os.environ.get(f"{_EXTRA}METADATA_{name.upper()}_REPLICATION_METHOD", "")
        for name in names
        if _matches(name, select) and _matches(name, filters)
    }


def _patterns(extra: str, default: list[str]) -> list[str]:
    text = os.environ.get(_EXTRA + extra)
    try:
        return msgspec.json.decode(text, type=list[str]) if text else default
    except ValueError as error:
        raise ConfigError(f"{_EXTRA}{extra}: {error}") from None


def _matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether patterns such as `leads.*` and `!leads.*` select a stream.

    `!leads.title` leaves out a column, and not the stream.
    """
    found = [p for p in patterns if fnmatch(name, p.strip("!").partition(".")[0])]
    left_out = (p for p in found if p[0] == "!" and p.partition(".")[2] in {"", "*"})
    return any(p[0] != "!" for p in found) and not any(left_out)
