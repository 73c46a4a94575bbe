"""Leaves out records that a run has emitted before and finds unchanged."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import compress
from typing import Any

from tap_leadintent.api.page import Records
from tap_leadintent.openapi import ComputedColumn

_MAX_KEYS = 130_000
"""Keys that are remembered, in about 13 MB. More take more memory. With fewer, more
records of a first load are emitted twice, once for each time range."""

_MASK = 2**60 - 1
"""The bits of a hash that are kept. With more, each key takes 32 bytes more. With
fewer, it is more likely that a changed record is left out."""


def _text_of(name: str, record: dict[str, Any], _: object) -> str | None:
    value = record.get(name)
    return None if value is None else str(value)


class Duplicates:
    """Remembers what was emitted last of each record of a stream."""

    def __init__(
        self, keys: Sequence[str], computed_columns: Iterable[ComputedColumn]
    ) -> None:
        """Start without a record.

        Args:
            keys: The key columns; without any, `id` is taken for the key.
            computed_columns: The columns that the stream computes.
        """
        computed = {column.name: column.compute for column in computed_columns}
        self._key_parts = [
            computed.get(name, partial(_text_of, name)) for name in keys or ["id"]
        ]
        self._emitted: dict[int, int] = {}
        """For the hash of each key, that of the JSON that was emitted last of it."""

    def leave_out(self, records: Records) -> Records:
        """Leave out records that were emitted before and are unchanged.

        Args:
            records: Records of a page, which are to be emitted now.

        Returns:
            The others.
        """
        are_new = [*map(self._is_new, records.data, map(bytes, records.raw))]
        data, raw = compress(records.data, are_new), compress(records.raw, are_new)
        return records._replace(data=[*data], raw=[*raw])

    def _is_new(self, record: dict[str, Any], raw: bytes) -> bool:
        key = tuple([compute(record, None) for compute in self._key_parts])
        # Where a record lacks a part of the key, its content stands for it.
        key_hash = hash((*key, raw) if None in key else key) & _MASK
        content = hash(raw) & _MASK
        # Only where both hashes collide is a changed record left out in error.
        if self._emitted.get(key_hash) == content:
            return False
        if key_hash in self._emitted or len(self._emitted) < _MAX_KEYS:
            self._emitted[key_hash] = content
        return True
