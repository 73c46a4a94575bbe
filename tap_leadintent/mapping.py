"""Builds and checks the stream maps of a run; the tap flattens records itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from singer_sdk.exceptions import MappingError
from singer_sdk.helpers._flattening import get_flattening_options
from singer_sdk.mapper import CustomStreamMap, PluginMapper, RemoveRecordTransform
from singer_sdk.singerlib import Catalog

from tap_leadintent.config.stream_maps import Vocabulary, maps_of
from tap_leadintent.errors import ConfigError
from tap_leadintent.records.flattening import Flattening
from tap_leadintent.singer.safe_map import SafeMap

if TYPE_CHECKING:
    import logging
    from collections.abc import Collection, Iterator, Mapping

    from singer_sdk.helpers._flattening import PluginFlatteningConfig
    from singer_sdk.mapper import StreamMap

    from tap_leadintent.client import LeadIntentStream
    from tap_leadintent.config.stream_maps import Definition

_NAMES = ("_", "record", "config", "__stream_name__", "__original_stream_name__")
"""Names that the SDK gives to each expression besides the record's columns."""


def build_mapper(
    config: Mapping[str, Any],
    catalog: Catalog,
    streams: Collection[LeadIntentStream],
    logger: logging.Logger,
) -> PluginMapper:
    """Build the mapper that maps and flattens the streams' records.

    Args:
        config: The settings.
        catalog: The catalog of the run.
        streams: The streams, whose columns the catalog declares.
        logger: The logger of the SDK's mapper.

    Returns:
        The mapper.

    Raises:
        ConfigError: A map or the flattening cannot work; one line for each problem.
    """
    # `records.flattening` flattens instead of the SDK.
    unflattened = {**config, "flattening_enabled": False}
    try:
        mapper = PluginMapper(plugin_config=unflattened, logger=logger)
        for stream in streams:
            _register(mapper, stream, catalog)
    except MappingError as error:
        raise ConfigError([f"stream_maps: {error}"]) from None
    definitions = config.get("stream_maps", {})
    problems: list[str] = []
    for stream in streams:
        maps = mapper.stream_maps.get(stream.name)
        if maps is None:
            # The catalog does not have the stream.
            continue
        paired = [*zip(maps, maps_of(definitions, stream.name), strict=True)]
        if stream.selected:
            for made, definition in paired:
                problems += _problems(stream, made, definition)
        if not problems:
            maps[:] = [_safe(stream, *pair, config) for pair in paired]
    if problems:
        raise ConfigError([*dict.fromkeys(problems)])
    return mapper


def _register(mapper: PluginMapper, stream: LeadIntentStream, catalog: Catalog) -> None:
    entry = catalog.get_stream(stream.name)
    if entry is None:
        return
    if stream.selected:
        mapper.register_raw_streams_from_catalog(Catalog({stream.name: entry}))
    else:
        # The SDK would leave no column of it, not even the key, and refuse any map.
        schema, keys = entry.schema.to_dict(), entry.key_properties
        mapper.register_raw_stream_schema(stream.name, schema, keys)


def _problems(
    stream: LeadIntentStream, made: StreamMap, definition: Definition | None
) -> Iterator[str]:
    if isinstance(made, CustomStreamMap) and definition is not None:
        yield from definition.problems(
            stream.name,
            _selected_columns(stream),
            Vocabulary(
                names=[*made.functions, *_NAMES, *(["fake"] if made.fake else [])],
                settings=made.map_config,
                syntax=made.expr_evaluator.nodes,
            ),
            partial(_is_left_out, stream),
        )


def _safe(
    stream: LeadIntentStream,
    made: StreamMap,
    definition: Definition | None,
    config: Mapping[str, Any],
) -> StreamMap:
    flattening = _flattening(stream, made, config)
    is_plain = flattening is None and not isinstance(made, CustomStreamMap)
    if is_plain or isinstance(made, RemoveRecordTransform):
        return made
    # Not the columns of `made.raw_schema`: the SDK removes mapped ones from it.
    columns, keys = _selected_columns(stream), stream.primary_keys
    return SafeMap(
        made,
        stream=stream.name,
        hidden=definition.hidden(columns, keys) if definition else (),
        flattening=flattening,
    )


def _flattening(
    stream: LeadIntentStream, made: StreamMap, config: Mapping[str, Any]
) -> Flattening | None:
    options = get_flattening_options(cast("PluginFlatteningConfig", config))
    if not options.enabled or options.max_level <= 0:
        return None
    try:
        return Flattening(made.transformed_schema, options, stream.notes)
    except ValueError as error:
        raise ConfigError([f"flattening_enabled: {stream.name}: {error}"]) from None


def _selected_columns(stream: LeadIntentStream) -> list[str]:
    columns = stream.effective_schema["properties"]
    return [name for name in columns if stream.mask["properties", name]]


def _is_left_out(stream: LeadIntentStream, field: str) -> bool:
    """Tell whether a field is deselected or excluded; it need not have a column."""
    return stream.exclusion.takes(field) or not stream.mask["properties", field]
