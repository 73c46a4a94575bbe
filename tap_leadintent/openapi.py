"""The API's contract (`openapi.json`) and the streams' schemas made from it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from singer_sdk import OpenAPISchema, StreamSchema
from typing_extensions import override

if TYPE_CHECKING:
    from singer_sdk.streams import Stream

API = OpenAPISchema[str](resources.files("tap_leadintent") / "openapi.json")

ADDITIONAL_PROPERTIES = "additional_properties"
RECORD_KEY = "record_key"
SIGNAL_OBSERVED_AT = "signal_observed_at"
WINDOW_END = "window_end"

TAP_COLUMNS: dict[str, dict[str, Any]] = {
    RECORD_KEY: {
        "type": ["string"],
        "description": "Key made by the tap: the record's `id`, else its own "
        "`<entity>_id`, else a SHA-256 over its canonical JSON.",
    },
    SIGNAL_OBSERVED_AT: {
        "type": ["string", "null"],
        "format": "date-time",
        "description": "`signal.observed_at` in UTC.",
    },
    WINDOW_END: {
        "type": ["string", "null"],
        "format": "date-time",
        "description": "End of the time window that the record was read in, UTC.",
    },
    ADDITIONAL_PROPERTIES: {
        "type": ["object", "null"],
        "additionalProperties": True,
        "description": "Every field of the record that has no column of its own.",
    },
}
"""Columns that the tap itself fills, by name."""

MADE_FROM = {RECORD_KEY: ("id",), SIGNAL_OBSERVED_AT: ("signal", "observed_at")}
"""Path of the field in the API's record that fills such a column first of all."""


class RecordSchema(StreamSchema[str]):
    """A stream's schema: the fields of the API's record and columns of the tap.

    `additional_properties` is always among them. The schema is normalised once, because
    the SDK would do it again for every record. The key is the only column that is not
    nullable: `record_key` if the stream has it, else `id`.
    """

    def __init__(self, key: str, *columns: str) -> None:
        """Declare the schema.

        Args:
            key: Name of the record's schema in `openapi.json`.
            columns: Names of the `TAP_COLUMNS` that this stream has.
        """
        super().__init__(API, key=key)
        self._key = key
        self._columns = (*columns, ADDITIONAL_PROPERTIES)
        self._schema: dict[str, Any] | None = None

    @override
    def get_stream_schema(
        self, stream: Stream | None, stream_class: type[Stream]
    ) -> dict[str, Any]:
        if self._schema is None:
            key = RECORD_KEY if RECORD_KEY in self._columns else "id"
            record = API.get_schema(self._key, key_properties=[key])
            columns = {name: TAP_COLUMNS[name] for name in self._columns}
            self._schema = {
                "type": "object",
                "properties": {**record["properties"], **columns},
            }
        return self._schema


def request_fields(stream_name: str) -> dict[str, dict[str, Any]]:
    """List the documented fields of a stream's request body.

    Args:
        stream_name: Name of a stream, the `operationId` of its endpoint.

    Returns:
        The JSON schema of each field by name, `cursor` included.
    """
    content = _operation(stream_name)["requestBody"]["content"]["application/json"]
    fields: dict[str, dict[str, Any]] = content["schema"]["properties"]
    return fields


@cache
def fields_set_by_the_tap() -> frozenset[str]:
    """List the request fields of any stream that are not filters.

    Returns:
        `cursor` and the names of the time ranges.
    """
    return frozenset(
        name
        for stream in stream_names()
        for name, schema in request_fields(stream).items()
        if "start_time" in schema.get("properties", ()) or name == "cursor"
    )


def is_documented(stream_name: str) -> bool:
    """Tell whether the API description shows the fields of a stream's records.

    Args:
        stream_name: Name of a stream, the `operationId` of its endpoint.

    Returns:
        Whether it does.
    """
    return not _record(stream_name).get("x-undocumented", False)


def record_fields(stream_name: str) -> dict[str, dict[str, Any]]:
    """List the documented fields of a stream's records.

    Args:
        stream_name: Name of a stream, the `operationId` of its endpoint.

    Returns:
        The JSON schema of each field by name.
    """
    fields: dict[str, dict[str, Any]] = _record(stream_name)["properties"]
    return fields


def _record(stream_name: str) -> dict[str, Any]:
    response = _operation(stream_name)["responses"]["200"]
    page = response["content"]["application/json"]["schema"]["properties"]
    name = page["data"]["items"]["$ref"].rpartition("/")[2]
    record: dict[str, Any] = API.spec["components"]["schemas"][name]
    return record


def stream_names() -> list[str]:
    """List the streams in the order of the API description.

    Returns:
        Their names.
    """
    return [path["post"]["operationId"] for path in API.spec["paths"].values()]


def _operation(stream_name: str) -> dict[str, Any]:
    for path in API.spec["paths"].values():
        operation: dict[str, Any] = path["post"]
        if operation["operationId"] == stream_name:
            return operation
    raise KeyError(stream_name)
