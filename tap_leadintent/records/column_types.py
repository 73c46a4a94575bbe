"""Checks whether values match the types of their columns, and converts them."""

from collections.abc import Callable, Collection, Mapping
from types import GenericAlias
from typing import Annotated, Any

import msgspec
from jsonschema import Draft202012Validator, FormatChecker
from singer_sdk.singerlib.json import deserialize_json, serialize_json

from tap_leadintent.times import utc_timestamp

Schema = dict[str, Any]

_ANNOTATIONS = {
    "default",
    "description",
    "examples",
    "title",
    "x-undocumented",
}
"""Keywords of a schema that refuse no value."""

_ARRAY_KEYWORDS = {
    "type",
    "items",
}
_OBJECT_KEYWORDS = {
    "type",
    "properties",
    "additionalProperties",
}
"""Keywords of schemas that a Python type can express."""

_INTEGER = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_SCALARS = {
    "string": str,
    "boolean": bool,
    "number": float,
    "integer": _INTEGER,
}


class ColumnTypes:
    """The types of a stream's columns, compiled for many records.

    Targets check records against the schema, but warehouses are stricter: a number must
    fit into a double, an integer into 64 bits, and a time must be valid.
    """

    def __init__(self, columns: Mapping[str, Schema]) -> None:
        """Compile the columns.

        Args:
            columns: The schema of each column that a field of a record fills; valid.
        """
        self.coercions: dict[str, Callable[[Any], Any]] = {}
        """For each column, the function to call with each value that is not null. It
        returns the value in the column's type, or None if the value contradicts it."""
        self._others: list[str] = []
        """The columns that have no exact type."""
        exact_columns: dict[str, Schema] = {}
        for name, schema in columns.items():
            exact = None
            if "format" not in schema:
                exact = _exact_type(schema)
            self.coercions[name] = _coercion(schema, exact)
            if exact is None:
                self._others.append(name)
            else:
                exact_columns[name] = schema
        record = _struct(exact_columns)
        self._page = GenericAlias(list, record)

    def columns_to_check(self, records: list[dict[str, Any]]) -> Collection[str]:
        """Find the columns whose values must go through `coercions`.

        Args:
            records: Records of a page, as the API gave them.

        Returns:
            The names of these columns, and perhaps of others. The values of all other
            columns have the right type.
        """
        # One call in C checks a complete page.
        if _matches_type(self._page, records):
            return self._others
        return self.coercions


def _kind_of(column: Schema) -> str:
    """Return what a column may hold besides null.

    Args:
        column: The JSON schema of the column.

    Returns:
        The type, "date-time" for a column of times, and "" for several types.
    """
    kinds = set[str]()
    branches = [column, *column.get("anyOf", [])]
    for branch in branches:
        types = _types_of(branch)
        # This is how the SDK's targets decide what becomes a timestamp column.
        if "string" in types and branch.get("format") == "date-time":
            return "date-time"
        kinds |= types - {"null"}
    if len(kinds) != 1:
        return ""
    return kinds.pop()


def _types_of(schema: Schema) -> set[str]:
    types = schema.get("type", [])
    if isinstance(types, str):
        return {types}
    return set(types)


def _coercion(
    schema: Schema,
    exact: Any,  # noqa: ANN401
) -> Callable[[Any], Any]:
    kind = _kind_of(schema)
    if kind == "date-time":
        return utc_timestamp
    has_format = kind not in {"object", "array"}
    formats = FormatChecker() if has_format else None
    validator = Draft202012Validator(
        _as_targets_decode(schema),
        format_checker=formats,
    )

    def coerce_value(value: object) -> object:
        if kind == "integer":
            value = _as_integer(value)
        if exact is None:
            decoded = _as_targets_decode(value)
            is_valid = validator.is_valid(decoded)
        else:
            is_valid = _matches_type(exact, value)
        return value if is_valid else None

    return coerce_value


def _as_integer(value: object) -> object:
    """Return a number without a fraction as an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _as_targets_decode(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a value with its numbers as `Decimal`, so 0.57 is a multiple of 0.01."""
    return deserialize_json(serialize_json(value))


def _matches_type(wanted: Any, value: object) -> bool:  # noqa: ANN401 - types have no type
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        return False
    return True


def _exact_type(schema: Schema) -> Any | None:  # noqa: ANN401
    """Return the type of exactly the values that a schema allows besides null.

    For some schemas, such as those with a pattern, no type can say this. The result is
    None then.
    """
    # Formats of nested fields do not matter: warehouses store them as JSON.
    kind = _kind_of({**schema, "format": None})
    keywords = schema.keys() - _ANNOTATIONS - {"format"}
    if kind == "array" and keywords <= _ARRAY_KEYWORDS:
        items = schema.get("items")
        inner = _nullable_type(items) if items else Any
        if inner is None:
            return None
        return GenericAlias(list, inner)
    if kind == "object" and keywords <= _OBJECT_KEYWORDS:
        others = schema.get("additionalProperties", True)
        if others is not True:
            return None
        fields = schema.get("properties", {})
        return _struct(fields)
    if keywords != {"type"}:
        return None
    return _SCALARS.get(kind)


def _nullable_type(schema: Schema) -> Any | None:  # noqa: ANN401
    exact = _exact_type(schema)
    if exact is None or "null" not in schema["type"]:
        return exact
    return exact | None


def _struct(fields: Mapping[str, Schema]) -> Any | None:  # noqa: ANN401
    names: dict[str, str] = {}
    members: list[tuple[str, Any, None]] = []
    for number, (name, schema) in enumerate(fields.items()):
        kind = _nullable_type(schema)
        if kind is None:
            return None
        member = f"f{number}"
        names[member] = name
        members.append((member, kind, None))
    try:
        return msgspec.defstruct(
            "Fields",
            members,
            rename=names,
            gc=False,
        )
    except ValueError:  # it refuses odd names
        return None
