"""Removes excluded fields from records and schemas.

Dots name nested fields, also inside lists. Because a field's own name may contain a
dot, `a.b` means both the field `a.b` and the field `b` of the object `a`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tap_leadintent.openapi import TapColumn

    Record = dict[str, Any]
    Schema = dict[str, Any]

_BRANCHES = frozenset({"allOf", "anyOf", "oneOf"})


class Exclusion:
    """The excluded fields of one object; true if there are any."""

    def __init__(self, names: Iterable[str]) -> None:
        """Compile the names.

        Args:
            names: Names of fields, with dots for nested ones.
        """
        self._whole = frozenset(names)
        nested: dict[str, set[str]] = {}
        for name in self._whole:
            parts = name.split(".")
            for count in range(1, len(parts)):
                field = ".".join(parts[:count])
                nested.setdefault(field, set()).add(".".join(parts[count:]))
        self._nested = {field: Exclusion(inner) for field, inner in nested.items()}

    def __bool__(self) -> bool:
        """Tell whether anything is excluded."""
        return bool(self._whole)

    def takes(self, *path: str) -> bool:
        """Tell whether a field is excluded.

        Args:
            path: The names of its objects and its own, outermost first.

        Returns:
            Whether the field or an object around it is excluded.
        """
        field, *inner = path
        if field in self._whole:
            return True
        return (
            bool(inner) and field in self._nested and self._nested[field].takes(*inner)
        )

    def records(self, records: list[Record]) -> list[Record]:
        """Remove the fields from records.

        Args:
            records: Records as the API gave them; they are not changed.

        Returns:
            The records without the fields.
        """
        return [self.record(record) for record in records] if self else records

    def record(self, record: Record) -> Record:
        """Remove the fields from a record.

        Args:
            record: A record as the API gave it; it is not changed.

        Returns:
            The record without the fields.
        """
        whole, nested = self._whole, self._nested
        return {
            name: nested[name]._value(value) if name in nested else value  # noqa: SLF001
            for name, value in record.items()
            if name not in whole
        }

    def _value(self, value: object) -> object:
        if isinstance(value, dict):
            return self.record(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return value

    def schema(self, schema: Schema) -> Schema:
        """Remove the fields from a schema.

        Args:
            schema: The JSON schema of an object, or of a list of objects; it is not
                changed.

        Returns:
            The schema without the fields, which it no longer requires.
        """
        changed = dict(schema)
        if "properties" in schema:
            changed["properties"] = {
                name: self._nested[name].schema(inner)
                if name in self._nested
                else inner
                for name, inner in schema["properties"].items()
                if name not in self._whole
            }
        if "required" in schema:
            changed["required"] = [
                n for n in schema["required"] if n not in self._whole
            ]
        if isinstance(schema.get("items"), dict):
            changed["items"] = self.schema(schema["items"])
        for branch in _BRANCHES & schema.keys():
            changed[branch] = [self.schema(option) for option in schema[branch]]
        return changed


def key_problems(
    exclusion: Exclusion,
    keys: Iterable[str],
    replication_key: str | None,
    made: Iterable[TapColumn],
) -> Iterator[str]:
    """Find excluded fields that the stream needs.

    Args:
        exclusion: The excluded fields of the stream.
        keys: The stream's key columns.
        replication_key: The stream's replication key, if any.
        made: The columns that the stream makes itself.

    Yields:
        A line for each key that is excluded, or made from an excluded field.
    """
    sources = {column.name: column.made_from for column in made if column.made_from}
    for key in keys:
        source = sources.get(key, (key,))
        if exclusion.takes(key):
            yield f"{key} cannot be left out: it is part of the stream's key"
        elif exclusion.takes(*source):
            field = ".".join(source)
            yield f"{field} cannot be left out: the stream's key {key} is made from it"
    others = {replication_key} - {None, *keys}
    if any(exclusion.takes(str(key)) for key in others):
        yield f"{replication_key} cannot be left out: it is the replication key"
