"""Shaping records as the streams do."""

import logging
from typing import Any

from singer_sdk.singerlib import SelectionMask

from tap_leadintent.findings import Findings
from tap_leadintent.records.shaper import RecordShaper
from tests.support.helpers import Json, declared_stream

FINDINGS = Findings(logging.getLogger("records"))


def shaper(
    name: str,
    *,
    more_columns: Json | None = None,
    **options: Any,
) -> RecordShaper:
    """Return the shaper of a stream, with more columns or other options if given."""
    stream = declared_stream(name)
    usual = {
        "columns": {
            **stream.schema["properties"],
            **(more_columns or {}),
        },
        "key_properties": stream.primary_keys,
        "computed_columns": stream.computed_columns,
        "mask": SelectionMask(),
        "findings": FINDINGS,
    }
    return RecordShaper(**{**usual, **options})


def shape(
    name: str,
    record: Json,
    **options: Any,
) -> Json:
    """Shape a record of a stream."""
    (shaped,) = shaper(name, **options).shape([record])
    return shaped
