"""Builds stream maps that remove what they set from `additional_properties`."""

import logging
from collections.abc import Mapping
from inspect import getclosurevars
from typing import Any

from singer_sdk import mapper as sdk
from singer_sdk.helpers._catalog import get_selected_schema
from singer_sdk.helpers._flattening import get_flattening_options
from singer_sdk.singerlib import Catalog, CatalogEntry

from tap_leadintent.errors import ConfigError, StreamError
from tap_leadintent.openapi import ADDITIONAL_PROPERTIES
from tap_leadintent.records.flattening import Flattening
from tap_leadintent.records.notes import RecordNotes

Record = dict[str, Any]


def build_mapper(
    config: Mapping[str, Any],
    catalog: Catalog,
    notes: Mapping[str, RecordNotes],
    logger: logging.Logger,
) -> sdk.PluginMapper:
    """Build the mapper that maps and flattens records.

    Args:
        config: The settings.
        catalog: The catalog of the run.
        notes: Collects what to log about the records, for each stream there is.
        logger: The logger of the SDK's mapper.

    Returns:
        The mapper.

    Raises:
        ConfigError: A map or the flattening cannot work.
    """
    options = get_flattening_options(config)  # type: ignore[arg-type]
    # `Flattening` does it after the map, as the SDK would lose what has no column.
    unflattened = {**config, "flattening_enabled": False}
    try:
        mapper = sdk.PluginMapper(plugin_config=unflattened, logger=logger)
        for stream, entry in catalog.items():
            if stream in notes:
                _register(mapper, entry)
    except Exception as error:  # noqa: BLE001 - its errors have no common class
        raise ConfigError([f"stream_maps: {error}"]) from None
    for stream, maps in mapper.stream_maps.items():
        for stream_map in maps:
            hidden: set[str] = set()
            if isinstance(stream_map, sdk.CustomStreamMap):
                hidden = _fields_set_by(stream_map)
                _guard(stream_map, hidden)
            stream_map.flattening_options = options
            if not stream_map.flattening_enabled:
                continue
            try:
                schema = stream_map.transformed_schema
                flattening = Flattening(schema, options, notes[stream], hidden)
            except ValueError as error:
                raise ConfigError([f"flattening_enabled: {stream}: {error}"]) from None
            stream_map.transformed_schema = flattening.schema
            stream_map.flatten_record = flattening.record  # type: ignore[method-assign]
    return mapper


def _register(mapper: sdk.PluginMapper, entry: CatalogEntry) -> None:
    schema, selection = entry.schema.to_dict(), entry.metadata.resolve_selection()
    if selection[()]:
        # Of a deselected stream, the SDK would leave no column, not even the key.
        schema = get_selected_schema(entry.tap_stream_id, schema, selection)
    mapper.register_raw_stream_schema(entry.tap_stream_id, schema, entry.key_properties)


def _fields_set_by(stream_map: sdk.CustomStreamMap) -> set[str]:
    # Private, as a map says nowhere else what it sets. Each entry has a name, its
    # expression, and the expression's compiled form.
    sets = getclosurevars(stream_map._transform_fn).nonlocals["stream_map_parsed"]  # noqa: SLF001
    changed = {name for name, expression, _ in sets if expression not in {name, "self"}}
    # `__else__` takes out columns that it does not name.
    remaining = stream_map.transformed_schema["properties"].keys()
    return changed.union(stream_map.raw_schema["properties"].keys() - remaining)


def _guard(stream_map: sdk.CustomStreamMap, hidden: set[str]) -> None:
    """Make a map hide the fields that it sets, and explain its errors."""
    transform = stream_map.transform

    def transform_safely(record: Record) -> Record | None:
        # A field is there if it has no column, or contradicts its column's type.
        if extra_fields := record.get(ADDITIONAL_PROPERTIES):
            kept = {n: value for n, value in extra_fields.items() if n not in hidden}
            record = {**record, ADDITIONAL_PROPERTIES: kept or None}
        try:
            return transform(record)
        except Exception as error:  # noqa: BLE001 - expressions can raise anything
            # The message must not quote the record, which may be private.
            what = type(error.__cause__ or error).__name__
            expression = " ".join(stream_map.expr_evaluator.expr.split())
            raise StreamError(
                f"the map expression {expression!r} failed on a record ({what}); a "
                "value may be null there or of another type; if a field has no column, "
                "make it a column (`schema`) or name it in `exclude_fields`"
            ) from None

    stream_map.transform = transform_safely  # type: ignore[method-assign]
