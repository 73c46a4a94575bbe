"""Checks names in `stream_maps`: a mistyped one would let private values through."""

from collections.abc import Iterator, Mapping
from fnmatch import filter as matching
from typing import Any

from tap_leadintent.config.names import did_you_mean
from tap_leadintent.openapi import record_fields, stream_names

_OPTIONS = ("__alias__", "__else__", "__filter__", "__key_properties__", "__source__")


def map_problems(maps: Mapping[str, Any]) -> Iterator[str]:
    """Check the names of streams, options and removed fields, and what they are set to.

    Args:
        maps: The setting, valid by its schema.

    Yields:
        A line for each problem; it continues the setting's name, such as `.leads: …`.
    """
    streams = stream_names()
    for entry, definition in maps.items():
        sets = definition if isinstance(definition, dict) else {}
        source = str(sets.get("__source__", entry))
        if entry == "__else__":
            continue
        named = matching(streams, source)
        if not named:
            hint = did_you_mean(source, [*streams, "__else__"])
            yield f".{entry}: there is no stream {source}{hint}"
        for name, value in sets.items():
            is_list = name == "__key_properties__"
            is_expression = isinstance(value, str) and value
            if not (value is None or is_list or is_expression):
                yield f".{entry}.{name}: must be an expression, or null"
        fields = {field for stream in named for field in record_fields(stream)}
        for name in sets.keys() - {*_OPTIONS, *fields}:
            near = did_you_mean(name, fields)
            if name.startswith("__"):
                hint = did_you_mean(name, _OPTIONS)
                yield f".{entry}.{name}: there is no such option{hint}"
            elif near and sets[name] in (None, "__NULL__"):
                yield f".{entry}.{name}: there is no such field{near}"
