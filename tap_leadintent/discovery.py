"""Discovery with `infer_columns`: typed columns from a sample of each stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests

from tap_leadintent.errors import RefusedError, naming
from tap_leadintent.records.inference import infer

if TYPE_CHECKING:
    from tap_leadintent.client import LeadIntentStream

_MOST_OF_NAMES = 1_000
"""Characters of a list of field names in the log. More would fill it; fewer would hide
names of a usual stream."""


def infer_columns(stream: LeadIntentStream) -> None:
    """Add typed columns for the fields on the first page of a stream.

    A stream that the key may not read (HTTP 403) keeps its columns and is deselected.

    Args:
        stream: A stream whose fields the API description does not show.

    Raises:
        StreamError: The stream could not be read.
    """
    try:
        with naming(stream.name):
            records = _sample(stream)
    except RefusedError as error:
        if error.status != requests.codes.forbidden:
            raise
        stream.selected_by_default = False
        stream.logger.warning(
            "%s; it is deselected, and its columns are not inferred", error.message
        )
        return
    schema = stream.schema
    found = infer(records, schema["properties"])
    if found.unsafe_names:
        names = ", ".join(map(repr, found.unsafe_names))
        stream.logger.warning(
            "Fields whose names some warehouses refuse or confuse stay in "
            "additional_properties: %s",
            stream.shared.secret.summarize(names, _MOST_OF_NAMES),
        )
    properties = {**schema["properties"], **found.columns}
    stream.declare({**schema, "properties": properties})


def _sample(stream: LeadIntentStream) -> list[dict[str, Any]]:
    """Read the first page of all records, without excluded fields."""
    return stream.exclusion.records(stream.reader.first_page().data)
