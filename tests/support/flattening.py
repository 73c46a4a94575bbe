"""What flattens records in tests, and notes what it could not put into columns."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from singer_sdk.helpers._flattening import FlatteningOptions
from typing_extensions import override

from tap_leadintent.records.flattening import Flattening
from tap_leadintent.records.notes import RecordNotes

if TYPE_CHECKING:
    from collections.abc import Collection

TEXT = {"type": ["string", "null"]}
NUMBER = {"type": ["number", "null"]}
OBJECT = {"type": ["object", "null"]}
REST = {**OBJECT, "additionalProperties": True}


class Noting(RecordNotes):
    """Keeps the names of fields without a column, and of contradicted columns."""

    def __init__(self, noted: list[str]) -> None:
        super().__init__(logging.getLogger())
        self._noted = noted

    @override
    def without_column(self, names: Collection[str]) -> None:
        self._noted.extend(names)

    @override
    def contradicting(self, name: str) -> None:
        self._noted.append(f"contradicted: {name}")


def opened(**fields: Any) -> dict[str, Any]:
    """Give the schema of an object with these fields."""
    return {**OBJECT, "properties": fields}


def flattening(
    fields: dict[str, Any], depth: int = 1, **options: Any
) -> tuple[Flattening, list[str]]:
    """Give what flattens records with these fields, and what it will note."""
    noted: list[str] = []
    options_ = FlatteningOptions(enabled=True, max_level=depth, **options)
    fields = {**fields, "additional_properties": REST}
    schema = {"type": "object", "properties": fields}
    return Flattening(schema, options_, Noting(noted)), noted
