"""Builds the stream maps of a run, and finds what cannot work before a record comes.

A map of the SDK does not say which entry of `stream_maps` it was made of. Therefore
each entry has a mapper of the SDK for itself here.

Unknown names in expressions are found here because the SDK notices them only at a
record: after a request, and with an error that does not say which name is wrong.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import starmap
from typing import TypeAlias

from singer_sdk import Tap
from singer_sdk import mapper as sdk
from singer_sdk.singerlib import Catalog, MetadataMapping

from tap_leadintent.singer.checks import find_unknown_names
from tap_leadintent.singer.errors import ConfigError
from tap_leadintent.singer.log import summarize
from tap_leadintent.singer.stream import Record, SingerStream
from tap_leadintent.singer.stream_map import Options, StreamMap

_NAMES = {
    "_",
    "__original_stream_name__",
    "__stream_name__",
    "config",
    "fake",
    "record",
}
"""What each expression may name besides columns and functions."""

_DefinedMap: TypeAlias = tuple[sdk.StreamMap, Record]
"""A map of the SDK, and the entry of `stream_maps` that it was made of."""


def build_mapper(
    tap: Tap,
    streams: Mapping[str, SingerStream],
) -> sdk.PluginMapper:
    """Build the mapper that maps and flattens records.

    Args:
        tap: The tap, with its settings and its catalog.
        streams: The streams that there are.

    Returns:
        The mapper.

    Raises:
        ConfigError: A map or the flattening cannot work.
    """
    rules: Record = {}
    entries: Record = {}
    for name, definition in tap.config.get("stream_maps", {}).items():
        # Entries such as `__else__` are not about one stream.
        is_rule = name.startswith("__")
        group = rules if is_rule else entries
        group[name] = definition
    mapper = _sdk_mapper(tap, streams, rules)
    columns: dict[str, Record] = {}
    maps: dict[str, list[_DefinedMap]] = {}
    for name, (default,) in mapper.stream_maps.items():
        # A map of the SDK changes its own raw schema; a default map keeps it.
        columns[name] = default.raw_schema.get("properties", {})
        maps[name] = [(default, {})]
    problems: list[str] = []
    for entry, definition in entries.items():
        mapper_of_entry = _sdk_mapper(tap, streams, {entry: definition})
        for name, (default, *copies) in mapper_of_entry.stream_maps.items():
            made = copies[0] if copies else default
            if copies:
                maps[name].append((made, definition))
            elif type(made) is not sdk.SameRecordTransform:
                maps[name][0] = (made, definition)
            if isinstance(made, sdk.CustomStreamMap) and streams[name].selected:
                unknown = _unknown_names(made, definition, columns[name])
                problems += (f"stream_maps.{entry}.{problem}" for problem in unknown)
    if problems:
        lines = map(summarize, dict.fromkeys(problems))
        raise ConfigError("\n".join(lines))
    options = _options_of(tap)
    for name, found in maps.items():
        complete = partial(
            _complete,
            stream=streams[name],
            options=options,
        )
        mapper.stream_maps[name] = list(starmap(complete, found))
    return mapper


def _options_of(tap: Tap) -> Options:
    config = {**tap.config, "stream_maps": {}}
    plain = sdk.PluginMapper(config, tap.logger)
    return Options(
        flattening=plain.flattening_options,
        objects_as_text=tap.config.get("objects_as_text", False),
    )


def _sdk_mapper(
    tap: Tap,
    streams: Mapping[str, SingerStream],
    stream_maps: Record,
) -> sdk.PluginMapper:
    # A map here flattens after that of the SDK, which would lose what has no column.
    config = {
        **tap.config,
        "stream_maps": stream_maps,
        "flattening_enabled": False,
    }
    try:
        mapper = sdk.PluginMapper(config, tap.logger)
        for name, entry in tap.catalog.items():
            if name in streams:
                # Until 0.55, the SDK removes all columns of a deselected stream.
                is_selected = streams[name].selected
                metadata = entry.metadata if is_selected else MetadataMapping()
                known = replace(
                    entry,
                    stream=name,
                    metadata=metadata,
                )
                mapper.register_raw_streams_from_catalog(Catalog({name: known}))
    except Exception as error:  # noqa: BLE001 - its errors have no common class
        # Its message may quote a secret, and be of any length.
        place = ".".join(["stream_maps", *stream_maps])
        raise ConfigError(summarize(f"{place}: {error}")) from None
    return mapper


def _complete(
    made: sdk.StreamMap,
    definition: Record,
    stream: SingerStream,
    options: Options,
) -> sdk.StreamMap:
    changes_objects = options.flattening.enabled or options.objects_as_text
    does_nothing = type(made) is sdk.SameRecordTransform and not changes_objects
    has_columns = "properties" in made.transformed_schema
    removes_all = isinstance(made, sdk.RemoveRecordTransform)
    if does_nothing or removes_all or not has_columns:
        return made
    try:
        return StreamMap(made, definition, stream, options)
    except (KeyError, TypeError, ValueError) as error:
        # The SDK's function expects a type in each column.
        reason = error if isinstance(error, ValueError) else "a column has no type"
        problem = f"flattening_enabled: {stream.name}: {reason}"
        raise ConfigError(problem) from None


def _unknown_names(
    made: sdk.CustomStreamMap,
    definition: Record,
    columns: Record,
) -> Iterator[str]:
    for name, expression in definition.items():
        is_option = name.startswith("__") and name != sdk.MAPPER_FILTER_OPTION
        is_removed = expression in (None, sdk.NULL_STRING)
        if is_option or is_removed:
            continue
        found = _names_in(expression)
        known = {*columns, *made.functions, *_NAMES, *found.own}
        if name in columns:
            known.add("self")
        used = dict.fromkeys(found.names)
        for problem in find_unknown_names(
            used,
            known,
            "column or function",
        ):
            yield f"{name}: {problem}"
        takes = len(found.config_names)
        # Otherwise, the expression may ask whether there is a name.
        if takes == found.names.count("config"):
            for problem in find_unknown_names(
                found.config_names,
                made.map_config,
                "name in stream_map_config",
            ):
                yield f"{name}: {problem}"


@dataclass
class _ExpressionNames:
    """The names in a map expression."""

    names: list[str] = field(default_factory=list)
    """All names, each as often as it occurs."""

    own: list[str] = field(default_factory=list)
    """The names that the expression itself defines."""

    config_names: list[str] = field(default_factory=list)
    """The constants by which it reads values of `config`."""


def _names_in(expression: str) -> _ExpressionNames:
    found = _ExpressionNames()
    for node in ast.walk(ast.parse(expression)):
        match node:
            case ast.Name():
                found.names.append(node.id)
                if isinstance(node.ctx, ast.Store):
                    found.own.append(node.id)
            case ast.Subscript(ast.Name("config"), ast.Constant(value)):
                found.config_names.append(str(value))
    return found
