"""A stream map that hides what it sets, names what fails, and changes objects.

Objects are flattened, and those that remain are written as text, as the settings say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from singer_sdk import mapper as sdk
from singer_sdk.contrib.msgspec import encoder
from typing_extensions import override

from tap_leadintent.singer.errors import RecordError
from tap_leadintent.singer.stream import Record, SingerStream


@dataclass(frozen=True, kw_only=True)
class Options:
    """What happens to the objects of records after a map."""

    flattening: Any
    """The options for flattening, of a private class of the SDK."""

    objects_as_text: bool = False
    """Whether the objects and lists that remain become JSON text."""


class StreamMap(sdk.StreamMap):
    """Does what a map of the SDK does, and then changes the objects of the record.

    A field that a map sets may also be among the extra fields, because it has no
    column, or its value contradicts the type of its column. It is removed there. A
    nested field that has no flat column becomes an extra field; the SDK would put it
    into a column that the target does not have.
    """

    def __init__(
        self,
        inner: sdk.StreamMap,
        definition: Record,
        stream: SingerStream,
        options: Options,
    ) -> None:
        """Change the schema as the records will be changed.

        Args:
            inner: The map of the SDK, which does not flatten.
            definition: The entry of `stream_maps` that the map was made of.
            stream: The stream, which knows how to fit values to columns.
            options: What happens to objects.

        Raises:
            ValueError: Two fields would have the same column, or the map sets a nested
                field, which has its flat name only after the map.
        """
        self._inner, self._extra = inner, stream.extra_column
        nested, keys = inner.transformed_schema, inner.transformed_key_properties
        super().__init__(inner.stream_alias, nested, keys, options.flattening)
        columns = self._columns = self.transformed_schema["properties"]
        fields = nested["properties"].keys()
        self._objects = fields - columns.keys()
        self._shape = stream.shaper_for(columns)
        self._sets = {n for n, value in definition.items() if value not in (n, "self")}
        # `__else__` takes out columns that it does not name.
        self._sets |= inner.raw_schema["properties"].keys() - fields
        begins = tuple(
            f"{name}{options.flattening.separator}" for name in self._objects
        )
        for part in self._sets:
            if part.startswith(begins):
                raise ValueError(
                    f"{part} would be a part of an object, so no map can set it; if it "
                    "is a nested field, deselect it; give a new column another name"
                )
        self._objects_as_text = options.objects_as_text
        if options.objects_as_text:
            self._texts = {n for n, column in columns.items() if _may_be_object(column)}
            text_columns = {name: {"type": ["string", "null"]} for name in self._texts}
            text_schema = {"properties": {**columns, **text_columns}}
            self.transformed_schema = {**self.transformed_schema, **text_schema}

    @override
    def get_filter_result(self, record: Record) -> bool:
        return self._inner.get_filter_result(record)

    @override
    def transform(self, record: Record) -> Record | None:
        if extra_fields := record.get(self._extra):
            kept = {n: v for n, v in extra_fields.items() if n not in self._sets}
            record = {**record, self._extra: kept or None}
        try:
            mapped = self._inner.transform(record)
        except Exception as error:  # noqa: BLE001 - expressions can raise anything
            # The error itself may quote a record.
            evaluator = getattr(self._inner, "expr_evaluator", None)
            expression = " ".join(getattr(evaluator, "expr", "").split())
            reason = type(error.__cause__ or error).__name__
            raise RecordError(
                f"correct the map expression {expression!r}, which failed on a record "
                f"({reason}): it must accept every value, also null"
            ) from None
        if mapped is None:
            return None
        flat = self.flatten_record(mapped)
        return self._write_objects(flat) if self._objects_as_text else flat

    def _write_objects(self, record: Record) -> Record:
        """Write the objects and lists of a record as JSON text."""
        written = {**record}
        for name, value in record.items():
            # The SDK declares what it does not know about a map's expression as text,
            # and a column may allow other types beside objects.
            is_text = value is None or isinstance(value, str)
            if isinstance(value, dict | list) or (name in self._texts and not is_text):
                written[name] = _json_text(value)
        return written

    @override
    def flatten_record(self, record: Record) -> Record:
        if not self.flattening_enabled:
            return record
        fields = {**record}
        given = fields.pop(self._extra, None)
        extra: Record = {**given} if isinstance(given, dict) else {}
        for name in self._objects & extra.keys():
            if isinstance(extra[name], dict):
                # It contradicts its column, but most of its fields have a flat one.
                fields[name] = extra.pop(name)
        flat = super().flatten_record(fields).items()
        kept = {n: v for n, v in flat if n in self._columns or v not in (None, "{}")}
        (shaped,) = self._shape([kept])
        if self._extra in shaped:
            extra |= shaped[self._extra] or {}
            text = _json_text(extra) if extra else None
            shaped[self._extra] = text if isinstance(given, dict | None) else given
        return shaped


def _may_be_object(column: Record) -> bool:
    """Return whether a column may hold an object or a list."""
    types = {*_types(column)}
    return not types or not types.isdisjoint({"object", "array"})


def _types(column: Record) -> Iterator[str]:
    own = column.get("type", [])
    yield from [own] if isinstance(own, str) else own
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in column.get(keyword, []):
            yield from _types(branch)


def _json_text(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return JSON as the tap writes records: characters and order as they came."""
    return encoder.encode(value).decode()
