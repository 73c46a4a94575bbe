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
        self._inner = inner
        self._extra = stream.extra_column
        super().__init__(
            inner.stream_alias,
            inner.transformed_schema,
            inner.transformed_key_properties,
            options.flattening,
        )
        self._columns = self.transformed_schema["properties"]
        fields = inner.transformed_schema["properties"].keys()
        self._objects = fields - self._columns.keys()
        self._shape = stream.shaper_for(self._columns)
        before = inner.raw_schema["properties"].keys()
        # `__else__` takes out columns that it does not name.
        self._sets = set(before - fields)
        for name, value in definition.items():
            if value not in (name, "self"):
                self._sets.add(name)
        self._refuse_nested(options.flattening.separator)
        self._objects_as_text = options.objects_as_text
        if self._objects_as_text:
            self._make_text_columns()

    def _refuse_nested(self, separator: str) -> None:
        """Raise a `ValueError` if the map sets a field that is a part of an object."""
        prefixes = tuple(f"{name}{separator}" for name in self._objects)
        for name in self._sets:
            if name.startswith(prefixes):
                raise ValueError(
                    f"{name} would be a part of an object, so no map can set it; if it "
                    "is a nested field, deselect it; give a new column another name"
                )

    def _make_text_columns(self) -> None:
        """Change the columns that may hold objects or lists to columns of text."""
        columns = dict(self._columns)
        self._texts: set[str] = set()
        for name, column in self._columns.items():
            if _may_be_object(column):
                self._texts.add(name)
                columns[name] = {"type": ["string", "null"]}
        self.transformed_schema = {
            **self.transformed_schema,
            "properties": columns,
        }

    @override
    def get_filter_result(self, record: Record) -> bool:
        return self._inner.get_filter_result(record)

    @override
    def transform(self, record: Record) -> Record | None:
        extra_fields = record.get(self._extra)
        if extra_fields:
            remaining = dict(extra_fields)
            for name in self._sets & remaining.keys():
                del remaining[name]
            record = {**record, self._extra: remaining or None}
        try:
            mapped = self._inner.transform(record)
        except Exception as error:  # noqa: BLE001 - expressions can raise anything
            # The error itself may quote a record.
            evaluator = getattr(self._inner, "expr_evaluator", None)
            text = getattr(evaluator, "expr", "")
            expression = " ".join(text.split())
            cause = error.__cause__ or error
            reason = type(cause).__name__
            raise RecordError(
                f"correct the map expression {expression!r}, which failed on a record "
                f"({reason}): it must accept every value, also null"
            ) from None
        if mapped is None:
            return None
        flat = self.flatten_record(mapped)
        if self._objects_as_text:
            return self._write_objects(flat)
        return flat

    def _write_objects(self, record: Record) -> Record:
        """Write the objects and lists of a record as JSON text."""
        written = {**record}
        for name, value in record.items():
            # The SDK declares what it does not know about a map's expression as text,
            # and a column may allow other types beside objects.
            is_text = value is None or isinstance(value, str)
            is_object = isinstance(value, dict | list)
            becomes_text = name in self._texts and not is_text
            if is_object or becomes_text:
                written[name] = _json_text(value)
        return written

    @override
    def flatten_record(self, record: Record) -> Record:
        if not self.flattening_enabled:
            return record
        fields = {**record}
        given = fields.pop(self._extra, None)
        extra: Record = {}
        if isinstance(given, dict):
            extra.update(given)
        for name in self._objects & extra.keys():
            if isinstance(extra[name], dict):
                # It contradicts its column, but most of its fields have a flat one.
                fields[name] = extra.pop(name)
        flat: Record = {}
        flattened = super().flatten_record(fields)
        for name, value in flattened.items():
            is_empty = value in (None, "{}")
            if name in self._columns or not is_empty:
                flat[name] = value
        (shaped,) = self._shape([flat])
        if self._extra in shaped:
            extra |= shaped[self._extra] or {}
            if not isinstance(given, dict | None):
                shaped[self._extra] = given
            elif extra:
                shaped[self._extra] = _json_text(extra)
            else:
                shaped[self._extra] = None
        return shaped


def _may_be_object(column: Record) -> bool:
    """Return whether a column may hold an object or a list."""
    types = set(_types(column))
    return not types or not types.isdisjoint({"object", "array"})


def _types(column: Record) -> Iterator[str]:
    own = column.get("type", [])
    if isinstance(own, str):
        yield own
    else:
        yield from own
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in column.get(keyword, []):
            yield from _types(branch)


def _json_text(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return JSON as the tap writes records: characters and order as they came."""
    return encoder.encode(value).decode()
