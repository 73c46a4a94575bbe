"""Stream maps: the SDK maps records; `additional_properties` keeps nothing it sets."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from singer_sdk import mapper as sdk
from singer_sdk.exceptions import MappingError
from singer_sdk.helpers._catalog import get_selected_schema
from singer_sdk.helpers._flattening import get_flattening_options
from typing_extensions import override

from tap_leadintent.errors import ConfigError, StreamError
from tap_leadintent.openapi import ADDITIONAL_PROPERTIES
from tap_leadintent.records.flattening import Flattening

if TYPE_CHECKING:
    import logging
    from collections.abc import Mapping

    from singer_sdk.helpers._flattening import FlatteningOptions
    from singer_sdk.singerlib import Catalog

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
        for stream in notes:
            _register(mapper, stream, catalog)
    except (MappingError, NotImplementedError, ValueError) as error:
        raise ConfigError([f"stream_maps: {error}"]) from None
    except (MemoryError, RecursionError):
        raise ConfigError(["stream_maps: an expression is nested too deeply"]) from None
    for stream, maps in mapper.stream_maps.items():
        definitions = _definitions(config.get("stream_maps", {}), stream)
        maps[:] = [
            _SafeMap(made, stream, definition, options, notes[stream])
            if isinstance(made, sdk.CustomStreamMap)
            or (isinstance(made, sdk.SameRecordTransform) and _flattens(options))
            else made
            for made, definition in zip(maps, definitions, strict=True)
        ]
    return mapper


def _flattens(options: FlatteningOptions) -> bool:
    return options.enabled and options.max_level > 0


def _register(mapper: sdk.PluginMapper, stream: str, catalog: Catalog) -> None:
    entry = catalog.get_stream(stream)
    if entry is None:
        return
    schema, selection = entry.schema.to_dict(), entry.metadata.resolve_selection()
    if selection[()]:
        # Of another stream it would leave no column, not even the key.
        schema = get_selected_schema(stream, schema, selection)
    mapper.register_raw_stream_schema(stream, schema, entry.key_properties)


def _definitions(maps: Mapping[str, Any], stream: str) -> list[dict[str, Any]]:
    """Give what each map of a stream sets, in the order of the SDK's mapper."""
    own: dict[str, Any] = {}
    others: list[dict[str, Any]] = []
    for entry, definition in maps.items():
        sets = definition if isinstance(definition, dict) else {}
        if fnmatchcase(stream, sets.get(sdk.MAPPER_SOURCE_OPTION, entry)):
            if sdk.MAPPER_SOURCE_OPTION in sets:
                others.append(sets)
            else:
                own = sets
    return [own, *others]


class _SafeMap(sdk.StreamMap):
    """A map whose errors are explained; it hides before, and flattens after."""

    def __init__(
        self,
        made: sdk.StreamMap,
        stream: str,
        sets: Mapping[str, Any],
        options: FlatteningOptions,
        notes: RecordNotes,
    ) -> None:
        super().__init__(made.stream_alias, made.raw_schema, None, None)
        self.transformed_key_properties = made.transformed_key_properties
        self.transformed_schema = made.transformed_schema
        self._stream = stream
        self._map = made if isinstance(made, sdk.CustomStreamMap) else None
        columns = made.transformed_schema["properties"]
        set_by_it = {name for name in sets if sets[name] not in (name, "self")}
        # `__else__` takes out columns that it does not name.
        self._hidden = set_by_it | (made.raw_schema["properties"].keys() - columns)
        self._flattening: Flattening | None = None
        if _flattens(options):
            try:
                self._flattening = Flattening(
                    made.transformed_schema, options, notes, self._hidden
                )
            except ValueError as error:
                raise ConfigError([f"flattening_enabled: {stream}: {error}"]) from None
            self.transformed_schema = self._flattening.schema

    @override
    def transform(self, record: Record) -> Record | None:
        mapped = record if self._map is None else self._mapped(record, self._map)
        if mapped is None or self._flattening is None:
            return mapped
        return self._flattening.record(mapped)

    @override
    def get_filter_result(self, record: Record) -> bool:
        return self._map is None or self._map.get_filter_result(record)

    def _mapped(self, record: Record, custom: sdk.CustomStreamMap) -> Record | None:
        # Without a column it is there, or if it contradicts its column's type.
        rest = record.get(ADDITIONAL_PROPERTIES)
        if rest and not self._hidden.isdisjoint(rest):
            left = {name: rest[name] for name in rest if name not in self._hidden}
            record = {**record, ADDITIONAL_PROPERTIES: left or None}
        try:
            return custom.transform(record)
        except Exception as error:  # noqa: BLE001 - expressions can raise anything
            # The message must not quote the record, which may be private.
            what = type(error.__cause__ or error).__name__
            if isinstance(error, AttributeError | TypeError):
                # These name types only.
                what = f"{what}: {error}"
            expression = " ".join(custom.expr_evaluator.expr.split())
            msg = (
                f"{self._stream}: the map expression {expression!r} failed on a record "
                f"({what}); a value may be null there or of another type; if a field "
                "has no column, make it a column (`schema`) or name it in "
                "`exclude_fields`"
            )
            raise StreamError(msg) from None
