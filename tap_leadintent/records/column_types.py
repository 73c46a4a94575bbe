"""Checks whether a value fits its column's type, and converts it to that type."""

from collections.abc import Callable, Iterable, Mapping
from itertools import repeat
from types import GenericAlias
from typing import Annotated, Any

import msgspec
from jsonschema import Draft202012Validator, FormatChecker
from singer_sdk.singerlib.json import deserialize_json, serialize_json

from tap_leadintent.times import utc_timestamp

Schema = dict[str, Any]

_SAYS_NOTHING = {"description", "title", "examples", "default", "x-undocumented"}
_INTEGER = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_SCALARS = {"string": str, "boolean": bool, "number": float, "integer": _INTEGER}


class ContradictionError(ValueError):
    """A value contradicts the type that its column declares."""


def fit_for(schema: Schema) -> Callable[[Any], Any]:
    """Compile a column's schema to a function.

    Targets check records against the schema, but warehouses are stricter: a number must
    fit a double, an integer 64 bits, and a time must be valid.

    Args:
        schema: The column's JSON schema, which is valid.

    Returns:
        The function to call with each value that is not null. It converts the value to
        the column's type, and raises ContradictionError if it cannot.
    """
    if _is_time(schema):
        return _time
    kind, exact = _only_type(schema), _exact_type(schema)
    # Formats of nested fields do not matter: warehouses store them as JSON.
    formats = None if kind in {"object", "array"} else FormatChecker()
    validator = Draft202012Validator(_with_decimals(schema), format_checker=formats)

    def fit(value: object) -> object:
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            value = int(value)
        if exact is not None:
            is_valid = _is_of(exact, value)
        else:
            is_valid = validator.is_valid(_with_decimals(value))
        if not is_valid:
            raise ContradictionError
        return value

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
        types = {name: _exact_type(schema) for name, schema in columns.items()}
        self._others = [name for name in types if types[name] is None]
        self._record = _struct({n: types[n] for n in types if n not in self._others})
        self._page = GenericAlias(list, self._record)

    def doubtful(self, records: list[dict[str, Any]]) -> Iterable[Iterable[str]]:
        """Find the columns whose values must go through `fits`.

        Args:
            records: Records as the API gave them.

        Returns:
            For each record, the names of these columns, and maybe of others. All other
            values fit as they are.
        """
        # One call in C checks a whole page.
        if _is_of(self._page, records):
            return repeat(self._others, len(records))
        return [
            self._others if _is_of(self._record, record) else self.fits
            for record in records
        ]


def _with_decimals(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Let 0.57 be a multiple of 0.01, as it is for targets."""
    return deserialize_json(serialize_json(value))


def _is_of(wanted: Any, value: object) -> bool:  # noqa: ANN401 - types have no type
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        return False
    return True


def _exact_type(schema: Schema, *, nested: bool = False) -> Any | None:  # noqa: ANN401
    """Give the type of all values that a schema allows; None if none is so simple."""
    kind = _only_type(schema)
    said = schema.keys() - _SAYS_NOTHING - {"type"}
    found: Any = None
    if kind == "array" and said <= {"items"}:
        items = schema.get("items")
        inner = _exact_type(items, nested=True) if items else Any
        found = GenericAlias(list, inner) if inner else None
    elif kind == "object" and said <= {"properties", "additionalProperties"}:
        if schema.get("additionalProperties", True) is True:
            fields = schema.get("properties", {})
            types = {n: _exact_type(fields[n], nested=True) for n in fields}
            found = None if None in types.values() else _struct(types)
    elif not said - ({"format"} if nested else set()):
        found = _SCALARS.get(kind or "")
    return found and (found | None if "null" in schema["type"] else found)


def _struct(fields: Mapping[str, Any]) -> Any | None:  # noqa: ANN401
    names = {f"f{number}": name for number, name in enumerate(fields)}
    types = [(field, fields[name], None) for field, name in names.items()]
    try:
        return msgspec.defstruct("Fields", types, rename=names, gc=False)
    except ValueError:  # it refuses odd names
        return None


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
