"""Discovery with `infer_columns`: typed columns from a sample of each stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import requests

from tap_leadintent.errors import RefusedError
from tap_leadintent.records.inference import infer

if TYPE_CHECKING:
    from tap_leadintent.client import LeadIntentStream
    from tap_leadintent.redaction import Secret

_MOST_OF_NAMES = 1_000
"""Characters of a list of names that a server chose; more would fill the log."""


def infer_columns(stream: LeadIntentStream, secret: Secret) -> None:
    """Add typed columns for the fields on the first page of a stream.

    A stream that the key may not read keeps its columns, and is deselected.

    Args:
        stream: A stream whose fields nobody documents.
        secret: Makes names that a server chose fit to be shown.

    Raises:
        StreamError: It could not be read.
    """
    try:
        records = stream.sample()
    except RefusedError as error:
        if error.status != requests.codes.forbidden:
            raise
        stream.selected_by_default = False
        stream.logger.warning(
            "%s; it is deselected, and its columns are not inferred", error.message
        )
        return
    found = infer(records, stream.schema["properties"])
    if found.unsafe_names:
        names = ", ".join(map(repr, found.unsafe_names))
        stream.logger.warning(
            "Fields whose names warehouses may not take, or not tell apart, stay in "
            "additional_properties: %s",
            secret.summarize(names, _MOST_OF_NAMES),
        )
    stream.add_columns(found.columns)
