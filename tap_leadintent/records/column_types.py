"""Checks whether a value fits its column's type, and converts it to that type."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import time
from decimal import Decimal
from itertools import repeat
from types import GenericAlias
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from jsonschema import Draft202012Validator, FormatChecker
from singer_sdk.singerlib.json import deserialize_json, serialize_json

from tap_leadintent.times import utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Schema = dict[str, Any]

Fit: TypeAlias = Callable[[Any], Any]
"""Converts a value to its column's type; raises ContradictionError if it cannot."""

_SAYS_NOTHING = {"description", "title", "examples", "default", "x-undocumented"}
_NUMBERS = frozenset({int, float, Decimal})
_MOST, _LEAST = int(sys.float_info.max), Decimal(sys.float_info.min)
_MOST_INTEGER = 2**63

_formats = FormatChecker()
_formats.checks("date-time")(lambda value: utc_timestamp(value) is not None)
_formats.checks("time", raises=ValueError)(
    lambda value: bool(time.fromisoformat(value))
)


class ContradictionError(ValueError):
    """A value contradicts the type that its column declares."""


def fit_for(schema: Schema) -> Fit:
    """Compile a column's schema to a function.

    Targets check records against the schema, but warehouses are stricter: a number must
    fit a double, an integer 64 bits, and a time must be valid.

    Args:
        schema: The column's JSON schema, which is valid.

    Returns:
        The function to call with each value that is not null.
    """
    # The SDK's decoder keeps decimals exact.
    schema = deserialize_json(serialize_json(schema))
    if _is_time(schema):
        return _time
    kind = _only_type(schema)
    if schema.keys() <= {"type", *_SAYS_NOTHING} and kind in _FITS:
        return _FITS[kind]
    nests = kind in {"object", "array"}
    # Formats of nested fields do not matter: warehouses store them as JSON.
    formats = None if nests else _formats
    validator = Draft202012Validator(schema, format_checker=formats)
    plain = _nested_type(schema) if nests else None
    first = {"number": _number, "integer": _integer}.get(kind or "")

    def fit(value: object) -> object:
        if plain is not None and _is_quickly(value, plain):
            return value
        fitted = value if first is None else first(value)
        try:
            valid = validator.is_valid(fitted)
        except ArithmeticError:
            # `multipleOf` on a number with too many digits; a target fails on it too.
            valid = False
        if not valid:
            raise ContradictionError
        return fitted

    return fit


class ColumnTypes:
    """The types of a stream's columns, compiled for many records."""

    def __init__(self, columns: Mapping[str, Schema]) -> None:
        """Compile the columns.

        Args:
            columns: The schema of each column that a field of a record fills.
        """
        self.fits: dict[str, Fit] = {}
        """The result of `fit_for` for each column."""
        plain: dict[str, Any] = {}
        for name, schema in columns.items():
            self.fits[name] = fit_for(schema)
            found = _nested_type(schema) if _is_plain(name, schema) else None
            if found is not None:
                plain[name] = found
        self._plain = _record_type(plain)
        self._all = list(columns)
        self._always = [name for name in columns if name not in plain]

    def doubtful(self, records: list[dict[str, Any]]) -> Iterable[list[str]]:
        """Find the columns whose values must go through `fits`.

        Args:
            records: Records as the API gave them.

        Returns:
            For each record, the names of these columns, and maybe of others. All other
            values fit as they are.
        """
        # One call in C checks all records; it covers only types that stay as they are.
        if _is_quickly(records, GenericAlias(list, self._plain)):
            return repeat(self._always)
        plain, always = self._plain, self._always
        return [always if _is_quickly(r, plain) else self._all for r in records]


def may_be_null(schema: Schema) -> bool:
    """Tell whether a column's schema lets it be null.

    Args:
        schema: The column's JSON schema.

    Returns:
        Whether it does.
    """
    return Draft202012Validator(schema).is_valid(None)


def _is_quickly(value: object, plain: Any) -> bool:  # noqa: ANN401
    """Check a type fast: True is certain, False means that it needs a full check."""
    try:
        msgspec.convert(value, plain)
    except (msgspec.ValidationError, OverflowError):
        return False
    return True


def _is_plain(name: str, schema: Schema) -> bool:
    kind = _only_type(schema)
    if "format" in schema or kind in {"number", "integer"}:
        return False
    if kind == "array" and not schema.get("items"):
        # Checking the list alone is cheaper: `msgspec` would copy its items.
        return False
    return _is_speakable(name)


def _is_speakable(name: str) -> bool:
    """Tell whether `msgspec` accepts the name of a field."""
    return name.isprintable() and not {*'"\\'} & {*name}


def _record_type(columns: Mapping[str, Any]) -> Any:  # noqa: ANN401 - types have no type
    names = {f"f{number}": name for number, name in enumerate(columns)}
    fields = [(field, columns[name], None) for field, name in names.items()]
    return msgspec.defstruct("Fields", fields, rename=names, gc=False)


def _nested_type(schema: Schema) -> Any | None:  # noqa: ANN401
    kind = _only_type(schema)
    said = schema.keys() - _SAYS_NOTHING - {"type"}
    found: Any = None
    if kind == "object" and said <= {"properties", "additionalProperties"}:
        found = _object_type(schema)
    elif kind == "array" and said <= {"items"}:
        found = _array_type(schema)
    elif kind == "string" and said <= {"format"}:
        found = str
    elif not said:
        found = _SCALARS.get(kind or "")
    if found is None or "null" not in schema["type"]:
        return found
    return found | None


def _object_type(schema: Schema) -> Any | None:  # noqa: ANN401
    if schema.get("additionalProperties", True) is not True:
        return None
    inner = {
        name: _nested_type(field)
        for name, field in schema.get("properties", {}).items()
    }
    if None in inner.values() or not all(map(_is_speakable, inner)):
        return None
    return _record_type(inner)


def _array_type(schema: Schema) -> Any | None:  # noqa: ANN401
    if not schema.get("items"):
        return list
    items = _nested_type(schema["items"]) if isinstance(schema["items"], dict) else None
    return None if items is None else list[items]  # type: ignore[valid-type]


def _only_type(schema: Schema) -> str | None:
    """Give the only type that a schema allows besides null; None if there are more."""
    types = schema.get("type", [])
    found = {types} if isinstance(types, str) else {*types} - {"null"}
    return found.pop() if len(found) == 1 else None


def _is_time(schema: Schema) -> bool:
    """Tell whether targets make a timestamp column of a schema, as the SDK's do."""
    return any(
        "string" in (branch.get("type") or []) and branch.get("format") == "date-time"
        for branch in (schema, *schema.get("anyOf", []))
    )


def _time(value: object) -> str:
    found = utc_timestamp(value)
    if found is None:
        raise ContradictionError
    return found


def _number(value: Any) -> Any:  # noqa: ANN401 - a number, if all is well
    if type(value) in _NUMBERS and (
        value == 0 or _LEAST <= value <= _MOST or -_MOST <= value <= -_LEAST
    ):
        return value
    raise ContradictionError


def _integer(value: Any) -> int:  # noqa: ANN401 - an integer, if all is well
    if (
        type(value) in _NUMBERS
        and -_MOST_INTEGER <= value < _MOST_INTEGER
        and value == int(value)
    ):
        return int(value)
    raise ContradictionError


def _of_type(wanted: type) -> Fit:
    def fit(value: object) -> object:
        if type(value) is not wanted:
            raise ContradictionError
        return value

    return fit


_SCALARS = {"string": str, "boolean": bool, "number": float, "integer": int}
_FITS: dict[str | None, Fit] = {
    "string": _of_type(str),
    "boolean": _of_type(bool),
    "object": _of_type(dict),
    "array": _of_type(list),
    "number": _number,
    "integer": _integer,
}
