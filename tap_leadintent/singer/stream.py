"""Writes a stream's messages: a STATE only says what has been written before it.

The SDK differs in four points. It makes a bookmark from records, which does not say
what has been read. It may write a STATE before a BATCH that it covers. It sends
ACTIVATE_VERSION before the records. It searches each record for deselected fields, even
if there are none. It has no public hooks for these, so its private methods are
overridden here and nowhere else.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from singer_sdk import Stream
from singer_sdk.exceptions import SingerSDKError
from singer_sdk.helpers._batch import SDKBatchMessage
from singer_sdk.mapper import SameRecordTransform
from singer_sdk.singerlib import RecordMessage
from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE
from typing_extensions import override

from tap_leadintent.singer.batch import BatchFiles
from tap_leadintent.singer.writer import flush

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from singer_sdk import Tap
    from singer_sdk.helpers._batch import BatchConfig
    from singer_sdk.helpers.types import Context

    Record = dict[str, Any]

_RECORDS_FOR_A_STATE = 300
"""Records between two STATEs, where they are not written in batches. Fewer cost the
target more flushes; more are read again after an interruption."""

_WINDOWS_FOR_A_STATE = 100
"""Windows between two STATEs, even if they have no records. Fewer write more STATEs;
more are read again after an interruption."""


class SingerStream(Stream):
    """A stream whose STATE says only what has been written before it."""

    def __init__(self, tap: Tap) -> None:
        """Create the stream for a run.

        Args:
            tap: The tap, with its settings and state.
        """
        super().__init__(tap)
        self._batch: BatchFiles | None = None
        self._bookmark: Callable[[], dict[str, Any]] = dict
        self._records_since_state = 0
        self._windows_since_state = 0

    @override
    def log(
        self, message: str, *args: Any, level: int = logging.INFO, **options: Any
    ) -> None:
        # The tap logs its own errors, which the SDK would call unhandled. The SDK's
        # lines about the start of a stream are shown at DEBUG only.
        if level == logging.ERROR and isinstance(sys.exception(), SingerSDKError):
            return
        told = logging.DEBUG if level == logging.INFO else level
        super().log(message, *args, level=told, **options)

    def checkpoint(
        self,
        bookmark: Callable[[], dict[str, Any]],
        *,
        records: int = 0,
    ) -> None:
        """Take a new bookmark, and write a STATE if one is due.

        Args:
            bookmark: Gives the content of the stream's state whenever it is called. All
                records that it covers then have been emitted.
            records: How many records have been emitted since the last call.
        """
        self._bookmark = bookmark
        self._windows_since_state += 1
        if self._batch is None:
            self._records_since_state += records
        if (
            self._records_since_state >= _RECORDS_FOR_A_STATE
            or self._windows_since_state >= _WINDOWS_FOR_A_STATE
        ):
            self.write_state()

    def flush(self) -> None:
        """Write the records that are collected for one block.

        Call it before a wait. STATE and all other messages are written at once.

        Raises:
            OutputError: Standard output cannot be written.
        """
        flush(self._tap.message_writer)

    @contextmanager
    def new_version(self, version: int) -> Iterator[None]:
        """Send ACTIVATE_VERSION after the records of a full table, if the user asks.

        Args:
            version: The version, which each record carries that is emitted inside the
                context.
        """
        is_full_table = self.replication_method == REPLICATION_FULL_TABLE
        if not (is_full_table and self.config["emit_activate_version_messages"]):
            yield
            return
        self._stream_version = version
        yield
        if self._batch is None:
            self._write_activate_version_message(version)
        else:
            self.logger.warning(
                "No ACTIVATE_VERSION is sent: records in a BATCH have no version, so a "
                "target would retire all of them"
            )

    def note_state(self) -> None:
        """Put the current bookmark into the state; call it at the end, too.

        Not called after each window, because there may be thousands of intervals.
        """
        if self._batch is None:
            self.stream_state.update(self._bookmark())

    def write_state(self) -> None:
        """Write a STATE, after all records that have been emitted."""
        if self._batch is not None:
            self._batch.write()
            self.stream_state.update(self._bookmark())
        self._records_since_state = self._windows_since_state = 0
        # The SDK writes no STATE while this is set, and only records clear it.
        self.state_manager.is_flushed = False
        self._write_state_message()

    @cached_property
    def _emits_as_is(self) -> bool:
        """Whether nothing is deselected, mapped or flattened."""
        first, *others = self.stream_maps
        return (
            not others
            and type(first) is SameRecordTransform
            and not first.flattening_enabled
            and all(self.mask.values())
        )

    @override
    def _generate_record_messages(
        self, record: Record
    ) -> Generator[RecordMessage, None, None]:
        if not self._emits_as_is:
            yield from super()._generate_record_messages(record)
            return
        message = RecordMessage(self.name, record, self._stream_version)
        # The constructor would convert it to UTC, though it is in UTC already.
        message.time_extracted = datetime.now(UTC)
        yield message

    @override
    def _write_state_message(self) -> None:
        self.note_state()
        super()._write_state_message()
        # Even if the SDK wrote no STATE: this may be the stream's end.
        self.flush()

    @override
    def generate_child_contexts(
        self, record: Record, context: Context | None
    ) -> Iterable[Context | None]:
        # There are no child streams; the SDK would copy each record for them.
        return ()

    @override
    def _sync_batches(
        self,
        batch_config: BatchConfig,
        context: Context | None = None,
    ) -> None:
        with self.get_batch_counter() as counter:

            def send(stream: str, manifest: list[str]) -> None:
                counter.increment()
                message = SDKBatchMessage(
                    stream=stream, encoding=batch_config.encoding, manifest=manifest
                )
                self._tap.write_message(message)

            with BatchFiles(self.tap_name, batch_config, send) as self._batch:
                for record in self._sync_records(context, write_messages=False):
                    for message in self._generate_record_messages(record):
                        self._batch.add(message.stream, message.record)
                    if self._batch.is_full:
                        self.write_state()
                self.write_state()

    # The next three do nothing: the stream keeps its own bookmark.

    @override
    def _increment_stream_state(
        self, latest_record: Record, *, context: Context | None = None
    ) -> None:
        pass

    @override
    def _write_starting_replication_value(self, context: Context | None) -> None:
        pass

    @override
    def get_replication_key_signpost(self, context: Context | None = None) -> None:
        pass

    @property
    @override
    def emit_activate_version_messages(self) -> bool:
        # The SDK would send ACTIVATE_VERSION too early; see `new_version`.
        return False
