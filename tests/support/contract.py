"""Reads the OpenAPI description of the API."""

import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from tests.support.helpers import Json

_FILE = resources.files("tap_leadintent") / "openapi.json"
API: Json = json.loads(_FILE.read_text(encoding="utf-8"))
OPERATIONS: dict[str, Json] = {}
for _path in API["paths"].values():
    _operation = _path["post"]
    OPERATIONS[_operation["operationId"]] = _operation


def properties(schema: Any) -> Iterator[tuple[str, Json]]:
    """Yield the properties at all levels of a schema, with their dotted names."""
    if schema.get("type") == "array":
        yield from properties(schema.get("items", {}))
    for name, value in schema.get("properties", {}).items():
        yield name, value
        for inner, inner_value in properties(value):
            yield f"{name}.{inner}", inner_value


def resolve(schema: Json) -> Json:
    """Return the schema that a reference points to; others are returned unchanged."""
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Any = API
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return dict(found)


def request_schema(stream: str) -> Json:
    content = OPERATIONS[stream]["requestBody"]["content"]
    return dict(content["application/json"]["schema"])


def response_schema(stream: str) -> Json:
    content = OPERATIONS[stream]["responses"]["200"]["content"]
    return dict(content["application/json"]["schema"])


FORMATS = FormatChecker(formats=())


@FORMATS.checks("date-time")
def _is_utc(value: object) -> bool:
    if not isinstance(value, str):
        return True
    pattern = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
    return re.fullmatch(pattern, value) is not None


def validator(schema: Json) -> Draft202012Validator:
    rooted = {
        **schema,
        "components": API["components"],
    }
    return Draft202012Validator(rooted, format_checker=FORMATS)
