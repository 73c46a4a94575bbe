"""The API's contract (`openapi.json`) and the streams' schemas that follow from it."""

from collections.abc import Callable
from importlib import resources
from typing import Any, NamedTuple

from singer_sdk import OpenAPISchema

_DESCRIPTION = resources.files("tap_leadintent") / "openapi.json"

API = OpenAPISchema[str](_DESCRIPTION)

ADDITIONAL_PROPERTIES = "additional_properties"
RECORD_KEY = "record_key"

PATHS: dict[str, str] = {
    item["post"]["operationId"]: path for path, item in API.spec["paths"].items()
}
"""Where each stream's endpoint is, after `base_url`, in the description's order."""

STREAM_NAMES = list(PATHS)
"""The streams; each is the `operationId` of its endpoint."""


Record = dict[str, Any]
"""A record as the API gave it, or the row that is made of it."""


class ComputedColumn(NamedTuple):
    """A column that the tap computes; all others hold the field of the same name."""

    name: str
    schema: dict[str, Any]
    compute: Callable[[Record, str | None], str | None]
    """Returns the value, from a record of the API and the end of the window that the
    record was read in, as `utc_timestamp` writes it. Records of a list have no window,
    so the end is None."""

    fallback: Callable[[Record], str] | None = None
    """Returns the value where `compute` returns None; a warning is logged then."""

    source: tuple[str, ...] = ()
    """The path of the field that the column depends on, if a warning is to be logged
    where that has a value and the column has none."""


_EXTRA_FIELDS = {
    "type": ["object", "null"],
    "additionalProperties": True,
    "description": "Every field of the record that has no column of its own.",
}


def record_schema(name: str, *computed_columns: ComputedColumn) -> dict[str, Any]:
    """Return the schema of a stream: the fields of the API and the computed columns.

    Args:
        name: Name of the record's schema in `openapi.json`.
        computed_columns: The columns that the tap computes.

    Returns:
        A JSON schema with `additional_properties`. The key is the only column that is
        not nullable: `record_key` if the stream has it, else `id`.
    """
    computed = {column.name: column.schema for column in computed_columns}
    key = RECORD_KEY if RECORD_KEY in computed else "id"
    record = API.get_schema(name, key_properties=[key])
    columns = {
        **record["properties"],
        **computed,
        ADDITIONAL_PROPERTIES: _EXTRA_FIELDS,
    }
    for column_name, column in columns.items():
        changed = dict(column)
        # With `items`, target-postgres makes `jsonb[]` and fails on nested arrays.
        changed.pop("items", None)
        columns[column_name] = changed
    return {
        "type": "object",
        "properties": columns,
    }


def request_fields(stream_name: str) -> dict[str, dict[str, Any]]:
    """Return the documented fields of a stream's request body.

    Args:
        stream_name: Name of a stream.

    Returns:
        The JSON schema of each field by name, `cursor` included.
    """
    endpoint = _endpoint(stream_name)
    content = endpoint["requestBody"]["content"]["application/json"]
    fields: dict[str, dict[str, Any]] = content["schema"]["properties"]
    return fields


def is_documented(stream_name: str) -> bool:
    """Return whether the API description shows the fields of a stream's records.

    Args:
        stream_name: Name of a stream.
    """
    record = _record(stream_name)
    return not record.get("x-undocumented", False)


def record_fields(stream_name: str) -> dict[str, dict[str, Any]]:
    """Return the documented fields of a stream's records.

    Args:
        stream_name: Name of a stream.

    Returns:
        The JSON schema of each field by name.
    """
    fields: dict[str, dict[str, Any]] = _record(stream_name)["properties"]
    return fields


def _endpoint(stream_name: str) -> dict[str, Any]:
    path = PATHS[stream_name]
    endpoint: dict[str, Any] = API.spec["paths"][path]["post"]
    return endpoint


def _record(stream_name: str) -> dict[str, Any]:
    endpoint = _endpoint(stream_name)
    content = endpoint["responses"]["200"]["content"]["application/json"]
    records = content["schema"]["properties"]["data"]
    reference: str = records["items"]["$ref"]
    _, _, name = reference.rpartition("/")
    record: dict[str, Any] = API.spec["components"]["schemas"][name]
    return record
