"""Shaping records as the streams do."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from singer_sdk.singerlib import SelectionMask

from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.records.shaper import RecordShaper
from tests.support.helpers import declared_stream

if TYPE_CHECKING:
    from collections.abc import Mapping

LOGGER = logging.getLogger("records")


def shaper(
    name: str,
    *key_properties: str,
    columns: Mapping[str, Any] | None = None,
    deselected: tuple[tuple[str, ...], ...] = (),
    notes: RecordNotes | None = None,
) -> RecordShaper:
    """Give the shaper of a stream, with more columns or another key if given."""
    stream = declared_stream(name)
    paths = [tuple(p for n in path for p in ("properties", n)) for path in deselected]
    return RecordShaper(
        columns={**stream.schema["properties"], **(columns or {})},
        key_properties=key_properties or stream.primary_keys,
        made=stream.made,
        mask=SelectionMask(dict.fromkeys(paths, False)),
        notes=notes or RecordNotes(LOGGER),
    )


def shape(name: str, record: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Shape a record of a stream."""
    (shaped,) = shaper(name, **options).shape([record])
    return shaped
