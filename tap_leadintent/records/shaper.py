"""Shapes records of the API into records for the target.

A column holds the field of the same name. A field without a column, or whose value
contradicts its column's type, goes to `additional_properties` under its own name.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from singer_sdk.singerlib import SelectionMask

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.openapi import ADDITIONAL_PROPERTIES, ComputedColumn, Record
from tap_leadintent.records.column_types import ColumnTypes
from tap_leadintent.records.exclusion import Exclusion
from tap_leadintent.records.keys import canonical_json
from tap_leadintent.times import field_at, format_interval, is_finer
from tap_leadintent.words import counted


class RecordShaper:
    """Shapes the records of one stream by its schema."""

    def __init__(  # noqa: PLR0913 - each is a part of it
        self,
        *,
        columns: Mapping[str, dict[str, Any]],
        mask: SelectionMask,
        findings: Findings,
        key_properties: Sequence[str] = (),
        computed_columns: Iterable[ComputedColumn] = (),
        exclusion: Exclusion | None = None,
    ) -> None:
        """Compile the stream's schema, once for all records.

        Args:
            columns: The schema of each column, by the column's name.
            mask: Which fields are selected.
            findings: Collects what to log about the records.
            key_properties: The key columns; every record must have a value for each.
            computed_columns: The columns that are computed.
            exclusion: The fields to remove from each record first.
        """
        self._findings = findings
        self._exclusion = exclusion or None
        self._deselected = Exclusion(_deselected_fields(mask))
        self._computed: list[ComputedColumn] = []
        fields = dict(columns)
        fields.pop(ADDITIONAL_PROPERTIES, None)
        for column in computed_columns:
            if column.name in fields:
                self._computed.append(column)
                del fields[column.name]
        self._types = ColumnTypes(fields)
        self._empty: Record = dict.fromkeys(fields)
        self.absent = set(fields)
        """The fields with a column that no record has had."""
        self._has_extra_fields = ADDITIONAL_PROPERTIES in columns
        self._keys = key_properties
        self._never_null: list[str] = []
        """The columns that are left out of a row that has no value for them."""
        for name, schema in columns.items():
            if name in key_properties:
                continue
            validator = Draft202012Validator(schema)
            if not validator.is_valid(None):
                self._never_null.append(name)

    def shape(
        self,
        records: list[Record],
        window_end: str | None = None,
    ) -> list[Record]:
        """Shape records.

        Args:
            records: The records as the API gave them.
            window_end: End of the time window that they were read in, as
                `utc_timestamp` writes it. Records of a list have none.

        Returns:
            The shaped records. Columns without a value are null, or absent if their
            schema does not allow null. Records without a value for a key column are
            left out.
        """
        if self._exclusion is not None:
            records = self._exclusion.apply(records)
        if self.absent:
            self.absent.difference_update(*records)
        columns_to_check = self._types.columns_to_check(records)
        shaped: list[Record] = []
        for record in records:
            row = self._shape(record, columns_to_check, window_end)
            missing = self._missing_key(row)
            if missing is None:
                shaped.append(row)
            else:
                self._findings.note(Finding.NO_KEY, [missing])
        return shaped

    def _missing_key(self, row: Record) -> str | None:
        """Return the first key column for which a row has no value."""
        for key in self._keys:
            value = row.get(key)
            if value is None or value == "":
                return key
        return None

    def _shape(
        self,
        record: Record,
        columns_to_check: Collection[str],
        window_end: str | None,
    ) -> Record:
        shaped = self._empty | record
        extra_fields: Record = {}
        # Otherwise each field of the record has a column.
        if len(shaped) > len(self._empty):
            unknown = self._pop_unknown(shaped, record)
            extra_fields = self._deselected.apply(unknown)
            if self._has_extra_fields:
                self._findings.note(Finding.UNKNOWN_FIELDS, extra_fields)
        replaced = self._coerce(shaped, columns_to_check)
        if replaced:
            extra_fields |= self._deselected.apply(replaced)
        for column in self._computed:
            shaped[column.name] = self._compute(column, record, window_end)
        if self._has_extra_fields:
            shaped[ADDITIONAL_PROPERTIES] = extra_fields or None
        for name in self._never_null:
            if shaped[name] is None:
                del shaped[name]
        return shaped

    def _pop_unknown(
        self,
        shaped: Record,
        names: Iterable[str],
    ) -> Record:
        """Take the fields that have no column out of a row, and return them."""
        unknown: Record = {}
        for name in names:
            if name not in self._empty:
                unknown[name] = shaped.pop(name)
        return unknown

    def _compute(
        self,
        column: ComputedColumn,
        record: Record,
        window_end: str | None,
    ) -> str | None:
        value = column.compute(record, window_end)
        if value is None and column.fallback:
            self._findings.note(Finding.NO_ID)
            value = column.fallback(record)
        if value is None and column.source:
            source = field_at(column.source, record)
            if source:
                self._findings.note(Finding.MISMATCH, [column.name])
        return value

    def _coerce(
        self,
        shaped: Record,
        names: Iterable[str],
    ) -> Record:
        """Convert values to their columns' types; return those that are not kept."""
        replaced: Record = {}
        for name in names:
            value = shaped[name]
            if value is None:
                continue
            coerce = self._types.coercions[name]
            coerced = coerce(value)
            shaped[name] = coerced
            if coerced is None:
                replaced[name] = value
                if name == "id" and name in self._keys:
                    # An id that is not a text would stop the stream.
                    shaped[name] = canonical_json(value)
                elif not self._deselected.removes(name):
                    self._findings.note(Finding.MISMATCH, [name])
            elif coerced is value:
                continue
            # Times are the only texts that conversion changes.
            elif isinstance(value, str) and is_finer(value):
                replaced[name] = value
        return replaced


def _deselected_fields(mask: SelectionMask) -> Iterator[str]:
    for breadcrumb, is_selected in mask.items():
        if not is_selected:
            # A breadcrumb has "properties" before each name.
            yield ".".join(breadcrumb[1::2])


def describe_left_out(
    findings: Findings,
    where: Sequence[tuple[int, int]],
) -> Iterator[str]:
    """Say which records were left out, and what to do about it.

    Args:
        findings: What was noted about the stream. What is said here is taken out.
        where: The intervals in which they were, oldest first, if these are known.

    Yields:
        A text for records that could not be decoded, and one for each key column that
        records had no value for.
    """
    time = ""
    if where:
        start, _ = where[0]
        _, end = where[-1]
        time = f" ({format_interval((start, end))})"
    correct = "tell the API's support; when it is corrected, forget its time"
    for count in findings.take(Finding.BROKEN).values():
        records = counted(count, "record")
        yield (
            f"{correct}: {records} that cannot be decoded left out"
            f"{time}, everything else was read"
        )
    for key, count in findings.take(Finding.NO_KEY).items():
        advice = "choose key-properties that every record has"
        if key == "id":
            advice = correct
        records = counted(count, "record")
        yield (
            f"{advice}: {records} without {key} left out{time}, "
            "everything else was read"
        )
