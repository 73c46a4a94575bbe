"""Writes the SQL that clears excluded fields in rows that were loaded before."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from importlib.resources import files
from typing import Any

from tap_leadintent.singer.errors import ConfigError


def write_statements(config: Mapping[str, Any], schema: str) -> str:
    """Return statements for PostgreSQL that clear what `exclude_fields` names.

    The statements find the columns that the tables have, so they also clear a column
    that was typed once and is not in the settings any more.

    Args:
        config: The settings.
        schema: The schema of the tables.

    Raises:
        ConfigError: No field is excluded.
    """
    rows = dict.fromkeys(_rows(config))
    if not rows:
        raise ConfigError("exclude_fields: is not set; name the fields to clear there")
    text = files(__package__).joinpath("clear.sql").read_text("utf-8").rstrip("\n")
    text = text.replace("@schema@", _literal(schema))
    return text.replace("@fields@", ",\n      ".join(rows))


def _rows(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a row of SQL for each table and place of a field that is excluded."""
    maps = config.get("stream_maps", {})
    for stream, names in config.get("exclude_fields", {}).items():
        for table in _tables(stream, maps):
            for name in names:
                for path in _paths(name):
                    parts = ", ".join(map(_literal, path))
                    yield f"({_literal(table)}, ARRAY[{parts}])"


def _tables(stream: str, maps: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of a stream, and those that stream maps fill from it."""
    yield stream
    for entry, definition in maps.items():
        if not isinstance(definition, dict):
            continue
        if fnmatch(stream, str(definition.get("__source__", entry))):
            yield str(definition.get("__alias__", entry))


def _paths(name: str) -> Iterator[Sequence[str]]:
    """Yield where a field can be: a dot stands before a nested field, or in a name.

    With flattening, the names of a nested field are joined by two underscores.
    """
    yield [name]
    if "." in name:
        yield [name.replace(".", "__")]
    for position, character in enumerate(name):
        if character == ".":
            for path in _paths(name[position + 1 :]):
                yield [name[:position], *path]


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
