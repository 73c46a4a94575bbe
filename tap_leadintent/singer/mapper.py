"""Builds the stream maps of a run, and finds what cannot work before a record comes.

A map of the SDK does not say which entry of `stream_maps` it was made of. Therefore
each entry has a mapper of the SDK for itself here.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from singer_sdk import Tap
from singer_sdk import mapper as sdk
from singer_sdk.singerlib import Catalog, MetadataMapping

from tap_leadintent.singer.checks import find_unknown_names
from tap_leadintent.singer.errors import ConfigError
from tap_leadintent.singer.log import summarize
from tap_leadintent.singer.stream import Record, SingerStream
from tap_leadintent.singer.stream_map import Options, StreamMap

_NAMES = {"_", "config", "fake", "record"}
_NAMES |= {"__original_stream_name__", "__stream_name__"}
"""What each expression may name besides columns and functions."""


def build_mapper(tap: Tap, streams: Mapping[str, SingerStream]) -> sdk.PluginMapper:
    """Build the mapper that maps and flattens records.

    Args:
        tap: The tap, with its settings and its catalog.
        streams: The streams that there are.

    Returns:
        The mapper.

    Raises:
        ConfigError: A map or the flattening cannot work.
    """
    entries = {**tap.config.get("stream_maps", {})}
    rules = {name: entries.pop(name) for name in [*entries] if name.startswith("__")}
    mapper = _sdk_mapper(tap, streams, rules)
    # A map of the SDK changes its own raw schema; that of a default map is complete.
    columns = {
        name: made.raw_schema.get("properties", {})
        for name, (made,) in mapper.stream_maps.items()
    }
    maps: dict[str, list[tuple[sdk.StreamMap, Record]]]
    maps = {name: [(made, {})] for name, (made,) in mapper.stream_maps.items()}
    problems: list[str] = []
    for entry, definition in entries.items():
        made_by_stream = _sdk_mapper(tap, streams, {entry: definition}).stream_maps
        for name, (default, *copies) in made_by_stream.items():
            made = copies[0] if copies else default
            if copies:
                maps[name].append((made, definition))
            elif type(made) is not sdk.SameRecordTransform:
                maps[name][0] = (made, definition)
            if isinstance(made, sdk.CustomStreamMap) and streams[name].selected:
                unknown = _unknown_names(made, definition, columns[name])
                problems += (f"stream_maps.{entry}.{text}" for text in unknown)
    if problems:
        raise ConfigError("\n".join(map(summarize, dict.fromkeys(problems))))
    plain = sdk.PluginMapper({**tap.config, "stream_maps": {}}, tap.logger)
    options = Options(
        flattening=plain.flattening_options,
        objects_as_text=tap.config.get("objects_as_text", False),
    )
    for name, found in maps.items():
        mapper.stream_maps[name] = [
            _complete(made, definition, streams[name], options)
            for made, definition in found
        ]
    return mapper


def _sdk_mapper(
    tap: Tap, streams: Mapping[str, SingerStream], stream_maps: Record
) -> sdk.PluginMapper:
    # A map here flattens after that of the SDK, which would lose what has no column.
    config = {**tap.config, "stream_maps": stream_maps, "flattening_enabled": False}
    try:
        mapper = sdk.PluginMapper(config, tap.logger)
        for name, entry in tap.catalog.items():
            if name in streams:
                # Until 0.55, the SDK removes all columns of a deselected stream.
                is_selected = streams[name].selected
                metadata = entry.metadata if is_selected else MetadataMapping()
                known = replace(entry, stream=name, metadata=metadata)
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
    if does_nothing or not has_columns or isinstance(made, sdk.RemoveRecordTransform):
        return made
    try:
        return StreamMap(made, definition, stream, options)
    except (KeyError, TypeError, ValueError) as error:
        # The SDK's function expects a type in each column.
        reason = error if isinstance(error, ValueError) else "a column has no type"
        problem = f"flattening_enabled: {stream.name}: {reason}"
        raise ConfigError(problem) from None


def _unknown_names(
    made: sdk.CustomStreamMap, definition: Record, columns: Record
) -> Iterator[str]:
    for field, expression in definition.items():
        is_option = field.startswith("__") and field != sdk.MAPPER_FILTER_OPTION
        if is_option or expression in (None, sdk.NULL_STRING):
            continue
        nodes = [*ast.walk(ast.parse(expression))]
        names = [node for node in nodes if isinstance(node, ast.Name)]
        own = (name.id for name in names if isinstance(name.ctx, ast.Store))
        known = {*columns, *made.functions, *_NAMES, *own}
        known.add("self" if field in columns else "")
        used = dict.fromkeys(name.id for name in names)
        for problem in find_unknown_names(used, known, "column or function"):
            yield f"{field}: {problem}"
        asked = [
            str(node.slice.value)
            for node in nodes
            if isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and ast.unparse(node.value) == "config"
        ]
        # Otherwise, the expression may ask whether there is a name.
        if len(asked) == [name.id for name in names].count("config"):
            what = "name in stream_map_config"
            for problem in find_unknown_names(asked, made.map_config, what):
                yield f"{field}: {problem}"
