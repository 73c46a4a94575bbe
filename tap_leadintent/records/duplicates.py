"""Leaves out records that a run has emitted before and finds unchanged."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from msgspec import Raw

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.openapi import ComputedColumn, Record

_MAX_KEYS = 130_000
"""Keys that are remembered, in about 13 MB."""

_KeyPart: TypeAlias = Callable[[Record, None], str | None]

_MASK = 2**60 - 1
"""The bits of a hash that are kept. With more, each key takes 32 bytes more."""


def _text_of(
    name: str,
    record: Record,
    _: object,
) -> str | None:
    value = record.get(name)
    if value is None:
        return None
    return str(value)


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
        self._key_parts: list[_KeyPart] = []
        """The functions that return the parts of the key."""
        for name in keys or ["id"]:
            field_text = partial(_text_of, name)
            self._key_parts.append(computed.get(name, field_text))
        self._findings = findings
        self._emitted: dict[int, int] = {}
        """For the hash of each key, that of the JSON that was emitted last of it."""

    def leave_out(
        self,
        records: list[Record],
        raw: Iterable[Raw],
    ) -> list[Record]:
        """Leave out records that were emitted before and are unchanged.

        Args:
            records: Records of a page, which are to be emitted now.
            raw: The JSON of each.

        Returns:
            The others.
        """
        remaining: list[Record] = []
        hashes = self.check(records, raw)
        for record, hashed in zip(records, hashes, strict=True):
            key, content = hashed
            if self._remember(key, content):
                remaining.append(record)
        return remaining

    def check(
        self,
        records: list[Record],
        raw: Iterable[Raw],
    ) -> list[tuple[int, int]]:
        """Note records of a page that have the same key and different contents.

        Args:
            records: The records of the page.
            raw: The JSON of each.

        Returns:
            For each record, a hash of its key and one of its content.
        """
        contents = map(bytes, raw)
        hashes = list(map(self._hash, records, contents))
        keys = {key for key, _ in hashes}
        if len(keys) < len(hashes):
            self._note_repeated(records, hashes)
        return hashes

    def _note_repeated(
        self,
        records: list[Record],
        hashes: list[tuple[int, int]],
    ) -> None:
        """Note in which fields records with the same key differ."""
        first: dict[int, Record] = {}
        for (key, _), record in zip(hashes, records, strict=True):
            other = first.setdefault(key, record)
            differing = _differing_fields(other, record)
            if differing:
                self._findings.note(Finding.REPEATED_KEYS, differing)

    def _remember(self, key: int, content: int) -> bool:
        """Remember an emitted record; return whether it is new or has changed."""
        if self._emitted.get(key) == content:
            return False
        if key in self._emitted or len(self._emitted) < _MAX_KEYS:
            self._emitted[key] = content
        return True

    def _hash(
        self,
        record: Record,
        raw: bytes,
    ) -> tuple[int, int]:
        key: list[str | bytes | None] = []
        for compute in self._key_parts:
            part = compute(record, None)
            key.append(part)
        if None in key:
            # The content stands for the part of the key that the record lacks.
            key.append(raw)
        key_hash = hash(tuple(key))
        content_hash = hash(raw)
        # A changed record is left out in error only if both of its hashes collide.
        return key_hash & _MASK, content_hash & _MASK


def _differing_fields(record: Record, other: Record) -> list[str]:
    """Return the names of the fields whose values differ."""
    differing: list[str] = []
    for name in record.keys() | other.keys():
        value = record.get(name)
        if value != other.get(name):
            differing.append(name)
    return differing
