"""From the API's record to the record that a target gets.

A column holds the record's field of that name. What has no column, or contradicts the
type that its column declares, travels in `additional_properties` under its own name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.openapi import (
    ADDITIONAL_PROPERTIES,
    RECORD_KEY,
    SIGNAL_OBSERVED_AT,
    TAP_COLUMNS,
    WINDOW_END,
)
from tap_leadintent.records.column_types import ContradictionError, Plan, may_be_null
from tap_leadintent.records.keys import canonical_json, content_key, own_id
from tap_leadintent.records.warn_once import Notices
from tap_leadintent.times import is_finer, utc_timestamp

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterable, Mapping

    from singer_sdk.singerlib import SelectionMask

    Record = dict[str, Any]

_SHOWN_CHARACTERS = 100


def signal_observed_at(record: Record) -> str | None:
    """Find when a lead's signal was observed.

    Args:
        record: A lead as the API gave it.

    Returns:
        `signal.observed_at` as `utc_timestamp` writes it, or None.
    """
    signal = record.get("signal")
    return (
        utc_timestamp(signal.get("observed_at")) if isinstance(signal, dict) else None
    )


class RecordShaper:
    """Shapes the records of one stream by its schema."""

    def __init__(
        self,
        *,
        columns: Mapping[str, dict[str, Any]],
        key_properties: Iterable[str],
        entity: str,
        mask: SelectionMask,
        logger: logging.Logger,
    ) -> None:
        """Work out what is the same for all records.

        Args:
            columns: The schema of each column, by the column's name.
            key_properties: The columns that no record may leave empty.
            entity: What a record is, singular.
            mask: Which fields are selected.
            logger: Where to warn, once about each field.

        Raises:
            ValueError: A column's schema is none.
        """
        self._entity = entity
        self._mask = mask
        self.notices = Notices(logger)
        """Where to warn about the stream's records."""
        fields = {n: schema for n, schema in columns.items() if n not in TAP_COLUMNS}
        self._plan = Plan(fields)
        self._empty: Record = dict.fromkeys(fields)
        self._hidden = {
            path[1]
            for path, selected in mask.items()
            if path[2:] == () != path and not selected
        }
        makers: dict[str, Callable[[Record], str | None]] = {
            RECORD_KEY: self._record_key,
            SIGNAL_OBSERVED_AT: signal_observed_at,
        }
        self._made = [(name, make) for name, make in makers.items() if name in columns]
        self._has_window_end = WINDOW_END in columns
        self._has_rest = ADDITIONAL_PROPERTIES in columns
        self._keeps_rest = self._has_rest and ADDITIONAL_PROPERTIES not in self._hidden
        self._keys = list(key_properties)
        self._never_null = [
            name
            for name, schema in columns.items()
            if name not in self._keys and not may_be_null(schema)
        ]

    def shape(
        self, records: list[Record], window_end: str | None = None
    ) -> list[Record]:
        """Shape records.

        Args:
            records: The records as the API gave them.
            window_end: Value of the column `window_end`, where the stream has it.

        Returns:
            Of each, every column of the schema, null where the record has no value. A
            column that its schema does not let be null is absent instead.

        Raises:
            ValueError: A key column has no value.
        """
        doubtful = self._plan.doubtful(records)
        return [
            self._shape(record, names, window_end)
            for record, names in zip(records, doubtful, strict=False)
        ]

    def _shape(
        self, record: Record, doubtful: Iterable[str], window_end: str | None
    ) -> Record:
        shaped = self._empty | record
        rest = self._fit(shaped, doubtful)
        if len(shaped) > len(self._empty):
            rest |= self._take_unknown(shaped)
        for name, make in self._made:
            shaped[name] = make(record)
        if self._has_window_end:
            shaped[WINDOW_END] = window_end
        if self._has_rest:
            shaped[ADDITIONAL_PROPERTIES] = rest or None
        for key in self._keys:
            if shaped.get(key) is None or shaped[key] == "":
                msg = f"a record has no {key}, which is part of the stream's key"
                raise ValueError(msg)
        for name in self._never_null:
            if shaped[name] is None:
                del shaped[name]
        return shaped

    def _fit(self, shaped: Record, names: Iterable[str]) -> Record:
        """Make values look as their columns want it; give those that cannot."""
        rest: Record = {}
        for name in names:
            value = shaped[name]
            if value is None:
                continue
            try:
                fitted = self._plan.fits[name](value)
            except ContradictionError:
                fitted = self._key_from(name, value) if name in self._keys else None
                self._keep(rest, name, value)
                self._tell(name, "contradicts the type of its column")
            else:
                # Of texts, only times change.
                if fitted is not value and isinstance(value, str) and is_finer(value):
                    self._keep(rest, name, value)
            shaped[name] = fitted
        return rest

    def _take_unknown(self, shaped: Record) -> Record:
        """Take out what has no column."""
        names = [*shaped][len(self._empty) :]
        taken = {name: shaped.pop(name) for name in names}
        unknown = {n: value for n, value in taken.items() if n not in self._hidden}
        if self._keeps_rest and not self.notices.told.issuperset(unknown):
            for name in unknown:
                self._tell(name, "has no column")
        return unknown

    def _tell(self, name: str, problem: str) -> None:
        outcome = "kept in" if self._keeps_rest else "lost without"
        shown, column = name[:_SHOWN_CHARACTERS], ADDITIONAL_PROPERTIES
        message = "A value of the field %r %s; it is %s %s"
        self.notices.tell(name, message, shown, problem, outcome, column)

    def _keep(self, rest: Record, name: str, value: object) -> None:
        if name not in self._hidden:
            rest[name] = self._selected_part(value, ("properties", name))

    def _selected_part(self, value: object, path: tuple[str, ...]) -> object:
        """Leave out what is deselected: it must not come back in another column."""
        if not isinstance(value, dict):
            return value
        inner = {(*path, "properties", name): name for name in value}
        return {
            name: self._selected_part(value[name], deeper)
            for deeper, name in inner.items()
            if self._mask[deeper]
        }

    def _key_from(self, name: str, value: object) -> object:
        """Make a key of an id that is no string, rather than stop the stream."""
        try:
            return self._plan.fits[name](canonical_json(value))
        except ContradictionError:
            return None

    def _record_key(self, record: Record) -> str:
        found = own_id(record, self._entity)
        if found is None:
            self.notices.tell(
                RECORD_KEY,
                "A record has no id, so its key is made from all its content: when it "
                "changes, it becomes another row",
            )
        return found or content_key(record)
