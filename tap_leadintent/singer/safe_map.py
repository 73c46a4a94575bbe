"""A stream map that explains its errors and keeps masked values hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from singer_sdk.mapper import CustomStreamMap, StreamMap
from typing_extensions import override

from tap_leadintent.errors import StreamError
from tap_leadintent.openapi import ADDITIONAL_PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Collection

    Record = dict[str, Any]


class Flattens(Protocol):
    """Flattens the records of a map."""

    schema: dict[str, Any]
    """The JSON schema of the flat records."""

    def record(self, record: Record, /) -> Record:
        """Flatten a record."""


class SafeMap(StreamMap):
    """Wraps a stream map: hides masked values before it, and flattens after it."""

    def __init__(
        self,
        inner: StreamMap,
        *,
        stream: str,
        hidden: Collection[str] = (),
        flattening: Flattens | None = None,
    ) -> None:
        """Wrap a map.

        Args:
            inner: The map, which must not flatten.
            stream: The stream that it maps.
            hidden: Columns that the map masks or removes; their values are removed from
                `additional_properties`.
            flattening: Flattens the mapped records; None if they stay nested.
        """
        super().__init__(
            inner.stream_alias, inner.raw_schema, inner.raw_key_properties, None
        )
        self.transformed_key_properties = inner.transformed_key_properties
        self.transformed_schema = inner.transformed_schema
        if flattening is not None:
            self.transformed_schema = flattening.schema
        self._inner = inner
        self._stream = stream
        self._hidden = frozenset(hidden)
        self._flattening = flattening

    @override
    def transform(self, record: Record) -> Record | None:
        # The error of an expression must not quote the record, which may be private.
        try:
            mapped = self._inner.transform(self._without_hidden(record))
        except Exception as error:  # noqa: BLE001 - expressions can raise anything
            raise StreamError(self._failure(error)) from None
        if mapped is None or self._flattening is None:
            return mapped
        return self._flattening.record(mapped)

    @override
    def get_filter_result(self, record: Record) -> bool:
        return self._inner.get_filter_result(record)

    def _without_hidden(self, record: Record) -> Record:
        # A value that contradicts its column's type is there, unmasked.
        rest = record.get(ADDITIONAL_PROPERTIES)
        if not rest or self._hidden.isdisjoint(rest):
            return record
        left = {name: rest[name] for name in rest if name not in self._hidden}
        return {**record, ADDITIONAL_PROPERTIES: left or None}

    def _failure(self, error: Exception) -> str:
        what = type(error.__cause__ or error).__name__
        if isinstance(error, AttributeError | TypeError):
            # These name types only; other errors may quote a value.
            what = f"{what}: {error}"
        expression = ""
        if isinstance(self._inner, CustomStreamMap):
            expression = " ".join(self._inner.expr_evaluator.expr.split())
        return (
            f"{self._stream}: the map expression {expression!r} failed on a record "
            f"({what}); a value may be null there, or of another type than expected"
        )
