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
_TYPES = {"string": str, "boolean": bool, "object": dict, "array": list}
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
    # Formats of nested fields do not matter: warehouses store them as JSON.
    nests = kind in {"object", "array"}
    validator = Draft202012Validator(schema, format_checker=None if nests else _formats)
    quick = _quick_type(schema) if nests else None
    first = _FITS.get(kind)

    def fit(value: object) -> object:
        if quick is not None and _is_quickly(value, quick):
            return value
        fitted = first(value) if first else value
        # The schema's numbers are decimals, which do not go with doubles.
        checked = Decimal(str(fitted)) if isinstance(fitted, float) else fitted
        try:
            if validator.is_valid(checked):
                return fitted
        except (ArithmeticError, TypeError):
            # `multipleOf` on a number with too many digits, or on nested doubles.
            pass
        raise ContradictionError

    return fit


class ColumnTypes:
    """The types of a stream's columns, compiled for many records."""

    def __init__(self, columns: Mapping[str, Schema]) -> None:
        """Compile the columns.

        Args:
            columns: The schema of each column that a field of a record fills.
        """
        self.fits = {name: fit_for(schema) for name, schema in columns.items()}
        """The result of `fit_for` for each column."""
        quick = {
            name: _quick_type(schema)
            for name, schema in columns.items()
            # The others are not only checked, or not by their type alone.
            if "format" not in schema and _only_type(schema) in _TYPES
        }
        self._always = [n for n in columns if quick.get(n) is None or _is_odd(n)]
        quick = {n: quick[n] for n in columns if n not in self._always}
        self._quick: Any = _struct(quick)
        self._quick_page = GenericAlias(list, self._quick)

    def doubtful(self, records: list[dict[str, Any]]) -> Iterable[Iterable[str]]:
        """Find the columns whose values must go through `fits`.

        Args:
            records: Records as the API gave them.

        Returns:
            For each record, the names of these columns, and maybe of others. All other
            values fit as they are.
        """
        # One call in C checks a whole page.
        if _is_quickly(records, self._quick_page):
            return repeat(self._always)
        return map(self.doubtful_of, records)

    def doubtful_of(self, record: dict[str, Any]) -> Iterable[str]:
        """Find the columns of one record whose values must go through `fits`.

        Args:
            record: A record as the API gave it.

        Returns:
            The names of these columns, and maybe of others.
        """
        return self._always if _is_quickly(record, self._quick) else self.fits


def may_be_null(schema: Schema) -> bool:
    """Tell whether a column's schema lets it be null.

    Args:
        schema: The column's JSON schema.

    Returns:
        Whether it does.
    """
    return Draft202012Validator(schema).is_valid(None)


def _is_quickly(value: object, quick: Any) -> bool:  # noqa: ANN401
    """Check a type fast: True is certain, False means that it needs a full check."""
    try:
        msgspec.convert(value, quick)
    except (msgspec.ValidationError, OverflowError):
        return False
    return True


def _quick_type(schema: Schema) -> Any | None:  # noqa: ANN401 - types have no type
    """Give a type of which all values are valid; None if there is none so simple."""
    kind = _only_type(schema)
    said = schema.keys() - _SAYS_NOTHING - {"type"}
    found: Any = _SCALARS.get(kind or "") if not said else None
    if kind == "string" and said <= {"format"}:
        found = str
    elif kind == "array" and said <= {"items"}:
        items = schema.get("items")
        inner = _quick_type(items) if isinstance(items, dict) and items else None
        found = GenericAlias(list, inner) if inner else None if items else list
    elif kind == "object" and said <= {"properties", "additionalProperties"}:
        fields = schema.get("properties", {})
        found = _struct({name: _quick_type(field) for name, field in fields.items()})
        if schema.get("additionalProperties", True) is not True:
            found = None
    return found and (found | None if "null" in schema["type"] else found)


def _struct(fields: Mapping[str, Any]) -> Any | None:  # noqa: ANN401
    if None in fields.values() or any(map(_is_odd, fields)):
        return None
    names = {f"f{number}": name for number, name in enumerate(fields)}
    types = [(field, fields[name], None) for field, name in names.items()]
    return msgspec.defstruct("Fields", types, rename=names, gc=False)


def _is_odd(name: str) -> bool:
    """Tell whether `msgspec` refuses the name of a field."""
    return not name.isprintable() or not {*'"\\'}.isdisjoint(name)


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
    if type(value) in {int, float, Decimal} and (
        value == 0 or _LEAST <= abs(value) <= _MOST
    ):
        return value
    raise ContradictionError


def _integer(value: Any) -> int:  # noqa: ANN401 - an integer, if all is well
    if (
        type(value) in {int, float, Decimal}
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
    **{name: _of_type(wanted) for name, wanted in _TYPES.items()},
    "number": _number,
    "integer": _integer,
}
