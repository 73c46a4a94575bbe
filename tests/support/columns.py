"""Schemas of columns."""

from tests.support.helpers import Json

TEXT: Json = {"type": ["string", "null"]}
TIME: Json = {
    **TEXT,
    "format": "date-time",
}
NUMBER: Json = {"type": ["number", "null"]}
INTEGER: Json = {"type": ["integer", "null"]}
FLAG: Json = {"type": ["boolean", "null"]}
ARRAY: Json = {"type": ["array", "null"]}
OBJECT: Json = {
    "type": ["object", "null"],
    "additionalProperties": True,
}


def opened(**fields: Json) -> Json:
    """Return the schema of an object with these fields."""
    return {
        **OBJECT,
        "properties": fields,
    }
