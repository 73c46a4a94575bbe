"""Stream maps that say what failed, and let nothing back in that they took out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from singer_sdk.mapper import CustomStreamMap, StreamMap

from tap_leadintent.errors import StreamError
from tap_leadintent.openapi import ADDITIONAL_PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Collection

    Record = dict[str, Any]


class Flattens(Protocol):
    """What makes flat records of a map's."""

    schema: dict[str, Any]
    """The JSON schema of the flat records."""

    def record(self, record: Record, /) -> Record:
        """Flatten a record."""


class SafeMap(StreamMap):
    """Another stream map, with a guard before it and flattening behind it."""

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
            hidden: Columns whose values must not be seen elsewhere.
            flattening: What flattens its records, if they are to be flat.
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

    def transform(self, record: Record) -> Record | None:
        """Map a record.

        Args:
            record: A record of the stream, which stays as it is.

        Returns:
            The record that is to be written, or None if there is none.

        Raises:
            StreamError: An expression failed. As its record may be private, the
                message has no value of it.
        """
        try:
            mapped = self._inner.transform(self._without_hidden(record))
        except Exception as error:  # noqa: BLE001 - expressions can raise anything
            raise StreamError(self._failure(error)) from None
        if mapped is None or self._flattening is None:
            return mapped
        return self._flattening.record(mapped)

    def get_filter_result(self, record: Record) -> bool:
        """Tell whether a record passes the map's filter.

        Args:
            record: A record of the stream.

        Returns:
            Whether it does.
        """
        return self._inner.get_filter_result(record)

    def _without_hidden(self, record: Record) -> Record:
        # A value that contradicts its column stands there in clear.
        rest = record.get(ADDITIONAL_PROPERTIES)
        if not rest or self._hidden.isdisjoint(rest):
            return record
        left = {name: rest[name] for name in rest if name not in self._hidden}
        return {**record, ADDITIONAL_PROPERTIES: left or None}

    def _failure(self, error: Exception) -> str:
        what = type(error.__cause__ or error).__name__
        if isinstance(error, AttributeError | TypeError):
            # These speak of types; others may quote a value.
            what = f"{what}: {error}"
        expression = ""
        if isinstance(self._inner, CustomStreamMap):
            expression = " ".join(self._inner.expr_evaluator.expr.split())
        return (
            f"{self._stream}: the map expression {expression!r} failed on a record "
            f"({what}); a value may be null there, or of another type than expected"
        )
