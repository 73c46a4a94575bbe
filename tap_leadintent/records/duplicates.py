"""Leaves out records that a run has emitted before and finds unchanged."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import compress

from msgspec import Raw

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.openapi import ComputedColumn, Record

_MAX_KEYS = 130_000
"""Keys that are remembered, in about 13 MB."""

_MASK = 2**60 - 1
"""The bits of a hash that are kept. With more, each key takes 32 bytes more."""


def _text_of(name: str, record: Record, _: object) -> str | None:
    value = record.get(name)
    return None if value is None else str(value)


class Duplicates:
    """Remembers what was emitted last of each record of a stream."""

    def __init__(
        self,
        keys: Sequence[str],
        computed_columns: Iterable[ComputedColumn],
        findings: Findings,
    ) -> None:
        """Create it for a stream.

        Args:
            keys: The key columns; without any, `id` is taken for the key.
            computed_columns: The columns that the stream computes.
            findings: Learns of records that have the same key.
        """
        computed = {column.name: column.compute for column in computed_columns}
        self._key_parts = [
            computed.get(name, partial(_text_of, name)) for name in keys or ["id"]
        ]
        self._findings = findings
        self._emitted: dict[int, int] = {}
        """For the hash of each key, that of the JSON that was emitted last of it."""

    def leave_out(self, records: list[Record], raw: Iterable[Raw]) -> list[Record]:
        """Leave out records that were emitted before and are unchanged.

        Args:
            records: Records of a page, which are to be emitted now.
            raw: The JSON of each.

        Returns:
            The others.
        """
        are_new = [self._remember(*each) for each in self.check(records, raw)]
        return [*compress(records, are_new)]

    def check(self, records: list[Record], raw: Iterable[Raw]) -> list[tuple[int, int]]:
        """Note records of a page that have the same key and different contents.

        Args:
            records: The records of the page.
            raw: The JSON of each.

        Returns:
            For each record, a hash of its key and one of its content.
        """
        hashes = [*map(self._hash, records, map(bytes, raw))]
        keys = dict(hashes)
        if len(keys) < len(hashes):
            first: dict[int, Record] = {}
            for (key, _), record in zip(hashes, records, strict=True):
                other = first.setdefault(key, record)
                names = {*other, *record}
                if differing := [n for n in names if other.get(n) != record.get(n)]:
                    self._findings.note(Finding.REPEATED_KEYS, differing)
        return hashes

    def _remember(self, key: int, content: int) -> bool:
        """Remember an emitted record; return whether it is new or has changed."""
        if self._emitted.get(key) == content:
            return False
        if key in self._emitted or len(self._emitted) < _MAX_KEYS:
            self._emitted[key] = content
        return True

    def _hash(self, record: Record, raw: bytes) -> tuple[int, int]:
        key = tuple([compute(record, None) for compute in self._key_parts])
        # Where a record lacks a part of the key, its content stands for it.
        key_hash = hash((*key, raw) if None in key else key) & _MASK
        # Only where both hashes collide is a changed record left out in error.
        return key_hash, hash(raw) & _MASK
