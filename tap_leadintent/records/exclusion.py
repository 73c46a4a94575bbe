"""Removes excluded fields from records and schemas.

Dots name nested fields, also inside lists. Because a field's own name may contain a
dot, `a.b` means both the field `a.b` and the field `b` of the object `a`.
"""

from collections.abc import Iterable
from typing import Any

Schema = dict[str, Any]


class Exclusion:
    """The excluded fields of a stream's records. It is false without names."""

    def __init__(self, names: Iterable[str]) -> None:
        """Compile the names.

        Args:
            names: Names of fields, with dots for nested ones.
        """
        self._names = frozenset(names)
        self._objects: set[str] = set()
        """Names of the objects that have excluded fields."""
        for name in self._names:
            outer = name
            while "." in outer:
                outer, _, _ = outer.rpartition(".")
                self._objects.add(outer)
        self.unused = set(self._names)
        """The names that no record has had a field for so far."""

    def __bool__(self) -> bool:
        """Return whether any field is excluded."""
        return bool(self._names)

    def removes(self, name: str) -> bool:
        """Return whether a field of a record is excluded with all that it contains."""
        return name in self._names

    def apply(
        self,
        value: Any,  # noqa: ANN401 - any JSON
        above: str = "",
    ) -> Any:  # noqa: ANN401 - any JSON
        """Remove the fields from a value, and note which names it has had.

        Args:
            value: A record, or a list of records; it is not changed.
            above: The name of the object that the value is, with a dot; empty for a
                record.

        Returns:
            The value without the fields.
        """
        if isinstance(value, list):
            return [self.apply(item, above) for item in value]
        if not isinstance(value, dict):
            return value
        remaining: dict[str, Any] = {}
        for name, field in value.items():
            path = above + name
            if path in self._names:
                self.unused.discard(path)
            elif path in self._objects:
                remaining[name] = self.apply(field, f"{path}.")
            else:
                remaining[name] = field
        return remaining

    def prune(
        self,
        schema: Schema,
        above: str = "",
    ) -> Schema:
        """Remove the fields from a schema.

        Args:
            schema: The JSON schema of an object, or of a list of objects; it is not
                changed.
            above: As for `apply`.

        Returns:
            The schema without the fields.
        """
        changed = dict(schema)
        fields = schema.get("properties")
        if fields is not None:
            changed["properties"] = self._prune_fields(fields, above)
        items = schema.get("items")
        if isinstance(items, dict):
            changed["items"] = self.prune(items, above)
        return changed

    def _prune_fields(
        self,
        fields: dict[str, Schema],
        above: str,
    ) -> dict[str, Schema]:
        remaining: dict[str, Schema] = {}
        for name, schema in fields.items():
            path = above + name
            if path in self._names:
                continue
            if path in self._objects:
                remaining[name] = self.prune(schema, f"{path}.")
            else:
                remaining[name] = schema
        return remaining
