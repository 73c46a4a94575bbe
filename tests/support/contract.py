"""Reads the OpenAPI description of the API."""

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

API: dict[str, Any] = json.loads(
    (resources.files("tap_leadintent") / "openapi.json").read_text(encoding="utf-8")
)
OPERATIONS = {
    path["post"]["operationId"]: path["post"] for path in API["paths"].values()
}


def properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the properties at all levels of a schema, with their dotted names."""
    if schema.get("type") == "array":
        yield from properties(schema.get("items", {}))
    for name, value in schema.get("properties", {}).items():
        yield name, value
        for inner, inner_value in properties(value):
            yield f"{name}.{inner}", inner_value


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that a reference points to; others are returned unchanged."""
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Any = API
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return dict(found)


def request_schema(stream: str) -> dict[str, Any]:
    content = OPERATIONS[stream]["requestBody"]["content"]
    return dict(content["application/json"]["schema"])


def response_schema(stream: str) -> dict[str, Any]:
    content = OPERATIONS[stream]["responses"]["200"]["content"]
    return dict(content["application/json"]["schema"])
