"""Checks `exclude_fields`: a mistyped name would let private values through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.config.suggestions import did_you_mean, nearest
from tap_leadintent.openapi import TAP_COLUMNS, record_fields, stream_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Fields = Mapping[str, Mapping[str, Any]]


def exclusion_problems(excluded: Mapping[str, list[str]]) -> Iterator[str]:
    """Check the names in `exclude_fields`.

    A name that the API description does not show is accepted, unless it is a near miss
    of a documented one.

    Args:
        excluded: The setting, valid by its schema.

    Yields:
        A line for each problem; it continues the setting's name, such as `.leads: …`.
    """
    streams = stream_names()
    for stream, names in excluded.items():
        if stream not in streams:
            yield f".{stream}: there is no such stream{did_you_mean(stream, streams)}"
            continue
        for name in names:
            if problem := _problem(name, record_fields(stream)):
                yield f".{stream}: {problem}"


def _problem(name: str, fields: Fields) -> str | None:
    made, _, inner = name.partition(".")
    if "*" in name:
        return f"{name}: takes names, not patterns"
    if inner and made in TAP_COLUMNS:
        return f"{name}: {made} is made by the tap; did you mean {inner}?"
    if meant := _meant(name, fields):
        return f"{name}: there is no such field; did you mean {meant}?"
    return None


def _meant(name: str, fields: Fields) -> str | None:
    """Give the documented field of which a name is a near miss."""
    documented = [*_paths(fields)]
    if name in documented or name in TAP_COLUMNS:
        return None
    same_letters = (path for path in documented if _letters(path) == _letters(name))
    return next(same_letters, None) or _misspelt(
        name, {**fields, **{made: {} for made in TAP_COLUMNS}}
    )


def _misspelt(name: str, fields: Fields) -> str | None:
    field, dot, inner = name.partition(".")
    if field not in fields:
        near = nearest(field, fields)
        return near and f"{near}{dot}{inner}"
    found = _misspelt(inner, _inside(fields[field])) if inner else None
    return found and f"{field}.{found}"


def _paths(fields: Fields, above: str = "") -> Iterator[str]:
    for name, schema in fields.items():
        yield f"{above}{name}"
        yield from _paths(_inside(schema), f"{above}{name}.")


def _inside(schema: Mapping[str, Any]) -> Fields:
    """Give the documented fields of an object, or of the objects in a list."""
    inside: Fields = schema.get("items", schema).get("properties", {})
    return inside


def _letters(name: str) -> str:
    """Give the letters and digits that snake_case and camelCase spellings share."""
    return "".join(filter(str.isalnum, name)).lower()
