"""Builds stream maps that remove what they set from the column of extra fields."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

from singer_sdk import Tap
from singer_sdk import mapper as sdk
from singer_sdk.singerlib import Catalog, MetadataMapping

from tap_leadintent.singer.errors import ConfigError, RecordError
from tap_leadintent.singer.flattening import Flattening
from tap_leadintent.singer.log import summarize
from tap_leadintent.singer.stream import SingerStream

Record = dict[str, Any]


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
    try:
        # The SDK removes `__else__` from the maps that it is given.
        config = deepcopy({**tap.config})
        mapper = sdk.PluginMapper(plugin_config=config, logger=tap.logger)
        options = mapper.flattening_options
        # `Flattening` does it after the map, as the SDK would lose what has no column.
        mapper.flattening_options = replace(options, enabled=False)
        for name, entry in tap.catalog.items():
            if name in streams:
                is_selected = entry.metadata.resolve_selection()[()]
                # Until 0.55, the SDK removes all columns of a deselected stream.
                metadata = entry.metadata if is_selected else MetadataMapping()
                known = replace(entry, stream=name, metadata=metadata)
                mapper.register_raw_streams_from_catalog(Catalog({name: known}))
    except Exception as error:  # noqa: BLE001 - its errors have no common class
        # Its message may quote a secret, and be of any length.
        raise ConfigError(summarize(f"stream_maps: {error}")) from None
    for name, maps in mapper.stream_maps.items():
        stream = streams[name]
        definitions = _definitions(name, mapper.stream_maps_dict)
        for stream_map, definition in zip(maps, definitions, strict=True):
            fields_set: set[str] = set()
            if isinstance(stream_map, sdk.CustomStreamMap):
                fields_set = _fields_set_by(stream_map, definition)
                _hide_fields(stream_map, fields_set, stream)
            stream_map.flattening_options = options
            if not stream_map.flattening_enabled:
                continue
            try:
                flattening = Flattening(stream_map, stream, fields_set)
            except ValueError as error:
                raise ConfigError(f"flattening_enabled: {name}: {error}") from None
            except (KeyError, TypeError) as error:
                # The SDK's function expects a type in each column.
                problem = f"a column has no type ({type(error).__name__})"
                raise ConfigError(f"flattening_enabled: {name}: {problem}") from None
            stream_map.transformed_schema = flattening.schema
            stream_map.flatten_record = flattening.flatten  # type: ignore[method-assign]
    return mapper


def _definitions(stream: str, maps: sdk.StreamMapsDict) -> list[Record]:
    """Return what the setting says about each map of a stream, in the SDK's order.

    The first map is that of the stream itself, and the others make copies. A map of the
    SDK does not say what it sets.
    """
    primary: Record = {}
    copies: list[Record] = []
    for name, value in maps.items():
        definition = value if isinstance(value, dict) else {}
        if fnmatch(stream, definition.get(sdk.MAPPER_SOURCE_OPTION, name)):
            if sdk.MAPPER_SOURCE_OPTION in definition:
                copies.append(definition)
            else:
                primary = definition
    return [primary, *copies]


def _fields_set_by(stream_map: sdk.CustomStreamMap, definition: Record) -> set[str]:
    changed = {n for n, value in definition.items() if value not in (n, "self")}
    # `__else__` takes out columns that it does not name.
    remaining = stream_map.transformed_schema["properties"].keys()
    return changed.union(stream_map.raw_schema["properties"].keys() - remaining)


def _hide_fields(
    stream_map: sdk.CustomStreamMap, names: set[str], stream: SingerStream
) -> None:
    """Make a map hide the fields that it sets, and explain its errors.

    Such a field may also be among the extra fields, because it has no column, or its
    value contradicts the type of its column.
    """
    transform, extra = stream_map.transform, stream.extra_column

    def transform_safely(record: Record) -> Record | None:
        if extra_fields := record.get(extra):
            kept = {n: value for n, value in extra_fields.items() if n not in names}
            record = {**record, extra: kept or None}
        try:
            return transform(record)
        except Exception as error:  # noqa: BLE001 - expressions can raise anything
            # The message must not quote the record, which may be private.
            what = type(error.__cause__ or error).__name__
            expression = " ".join(stream_map.expr_evaluator.expr.split())
            raise RecordError(
                f"the map expression {expression!r} failed on a record ({what}); a "
                "value may be null there or of another type; if a field has no column, "
                f"make it a column (`schema`) or {stream.how_to_leave_out}"
            ) from None

    stream_map.transform = transform_safely  # type: ignore[method-assign]
