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


def selected_streams(
    names: Iterable[str],
    catalog: str | None,
) -> dict[str, str]:
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
        return _selected_in_catalog(names, catalog)
    select = _patterns("SELECT", ["*.*"])
    filters = _patterns("SELECT_FILTER", ["*"])
    if all(pattern.startswith("!") for pattern in filters):
        filters.append("*")
    methods: dict[str, str] = {}
    for name in names:
        is_selected = _matches(name, select) and _matches(name, filters)
        if is_selected:
            variable = f"{_EXTRA}METADATA_{name.upper()}_REPLICATION_METHOD"
            methods[name] = os.environ.get(variable, "")
    return methods


def _selected_in_catalog(
    names: Iterable[str],
    path: str,
) -> dict[str, str]:
    catalog = Catalog.from_dict(read_catalog(path))
    methods: dict[str, str] = {}
    for name in names:
        entry = catalog.get(name)
        if not entry:
            continue
        selection = entry.metadata.resolve_selection()
        if selection[()]:
            methods[name] = entry.replication_method or ""
    return methods


def _patterns(
    extra: str,
    default: list[str],
) -> list[str]:
    text = os.environ.get(_EXTRA + extra)
    if not text:
        return default
    try:
        return msgspec.json.decode(text, type=list[str])
    except ValueError as error:
        raise ConfigError(f"{_EXTRA}{extra}: {error}") from None


def _matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether patterns such as `leads.*` and `!leads.*` select a stream.

    `!leads.title` leaves out a column, and not the stream.
    """
    is_selected = False
    for pattern in patterns:
        stream, _, column = pattern.strip("!").partition(".")
        if not fnmatch(name, stream):
            continue
        if not pattern.startswith("!"):
            is_selected = True
        elif column in {"", "*"}:
            return False
    return is_selected
