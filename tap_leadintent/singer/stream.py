"""Writes the messages of a stream. A STATE covers only what was written before it.

The SDK works differently in three ways. It makes a bookmark from records, which does
not say what has been read. It sends ACTIVATE_VERSION before the records. It passes over
each record several times, even if there is nothing to change. It has no public hook for
these, so its private loop over the records is overridden here. The new loop does
not support partitions, child streams, batches, `post_process`, and the bookmark of a
sorted stream, so a stream that has one of these is refused.
"""

import logging
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from typing import Any, cast

from singer_sdk import Stream, Tap
from singer_sdk.helpers.types import Context
from singer_sdk.mapper import SameRecordTransform
from singer_sdk.singerlib import RecordMessage
from typing_extensions import override

from tap_leadintent.singer import log
from tap_leadintent.singer.errors import OutputError
from tap_leadintent.singer.writer import Writer
from tap_leadintent.singer.written import WrittenRows

Record = dict[str, Any]

_MIN_BETWEEN_STATES = 300
"""A STATE is written when the state has changed, and this many records and changes of
the state have come since the last STATE. Changes count, so that progress is saved also
while no records come. A target writes what it has at each STATE."""

_UNSUPPORTED = (
    "generate_child_contexts",
    "get_batches",
    "get_child_context",
    "is_sorted",
    "parent_stream_type",
    "partitions",
    "post_process",
    "state_partitioning_keys",
)
"""What a stream of the SDK may have, but the loop over the records would ignore."""


class SingerStream(Stream):
    """A stream whose STATE says only what has been written before it.

    A subclass has `name`, `schema`, `primary_keys` and `get_records`, as with the SDK.
    If it has a state, it overrides `current_state`, and calls `checkpoint` when that
    changes. A subclass with a feature that this class does not support, such as
    partitions, raises a `TypeError`.
    """

    extra_column: str = ""
    """The column of the fields that have no column of their own. If it is empty, they
    are dropped when records are flattened."""

    def __init__(self, tap: Tap) -> None:
        """Create the stream for a run.

        Args:
            tap: The tap, with its settings and state.

        Raises:
            TypeError: The class has a feature that is not supported.
        """
        for name in _UNSUPPORTED:
            if getattr(type(self), name) is not getattr(Stream, name):
                raise TypeError(f"{type(self).__name__}: {name} would be ignored")
        super().__init__(tap)
        self.logger.addFilter(log.Redaction(self.name))
        self._since_state = 0
        """How many records and changes of the state there were since the last STATE."""
        self.written: WrittenRows | None = None
        """Counts the rows of the stream's own table, after `count_rows`."""
        self._counted_table = ""

    @property
    @override
    def logger(self) -> logging.Logger:
        # From version 0.55 on, the SDK's is an adapter that replaces `extra` of a line.
        return logging.getLogger(f"{self.tap_name}.{self.name}")

    @override
    def log(self, message: str, *args: Any, **options: Any) -> None:
        # The SDK logs the start and the failure of a stream; the tap does so itself.
        super().log(
            message,
            *args,
            **{**options, "level": logging.DEBUG},
        )

    def current_state(self) -> dict[str, Any]:
        """Return what the stream's bookmark says now, or nothing if it has none.

        Returns:
            Values that replace those of the bookmark in the tap's state. All records
            that they cover have been emitted.
        """
        return {}

    def shaper_for(self, columns: Record) -> Callable[[list[Record]], list[Record]]:
        """Return a function that fits flat records to columns.

        A stream may override it to check types, or to fill `extra_column`.

        Args:
            columns: The schema of each column, by the column's name.

        Returns:
            A function from records to records that have no other columns.
        """

        def shape(records: list[Record]) -> list[Record]:
            shaped: list[Record] = []
            for record in records:
                row = {name: record[name] for name in record if name in columns}
                shaped.append(row)
            return shaped

        return shape

    def begin_state(self) -> None:
        """Prepare the state before the first STATE of the run."""

    def may_delete_others(self, records: int) -> bool:
        """Return whether a target may delete the rows that a list does not hold.

        A subclass that doubts that the list is complete returns False.

        Args:
            records: How many records the list holds, at least one.
        """
        return records > 0

    def flush(self) -> None:
        """Let the target have all records that have been emitted.

        Raises:
            OutputError: Standard output cannot be written.
        """
        # A program that uses the tap may give it another writer, without a buffer.
        if isinstance(self._tap.message_writer, Writer):
            self._tap.message_writer.flush()

    def messages_for(self, record: Record) -> list[RecordMessage]:
        """Return the messages that stream maps make of a record.

        Args:
            record: A record of the stream. Deselected fields are removed from it.

        Returns:
            A message for each stream map that does not leave the record out.

        Raises:
            RecordError: A stream map fails.
        """
        return [*self._generate_record_messages(record)]

    def count_rows(self, time_column: str = "") -> None:
        """Begin to count the rows that are written to the stream's own table.

        A table that a stream map makes beside it does not count.

        Args:
            time_column: The column with the time of a row. It is not used if it is
                deselected, or removed by a stream map.
        """
        own_table, *_ = self.stream_maps
        columns = own_table.transformed_schema.get("properties", {})
        self._counted_table = own_table.stream_alias
        self.written = WrittenRows(
            own_table.transformed_key_properties or (),
            time_column if time_column in columns else "",
        )

    def checkpoint(self) -> None:
        """Count a change of the stream's state, and write a STATE if one is due.

        It is due if 300 records and changes have been emitted since the last one.
        """
        self._since_state += 1
        if self._since_state >= _MIN_BETWEEN_STATES:
            self.write_state()

    def write_state(self) -> None:
        """Write a STATE if it says something new; the target has all records then.

        Raises:
            OutputError: Standard output cannot be written.
        """
        self.stream_state.update(self.current_state())
        self._since_state = 0
        self._tap.state_writer.write_state(self.tap_state)
        # No STATE is written if it says what the last one said.
        self.flush()

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

    def _emit(self, record: Record) -> None:
        if self._emits_as_is:
            message = RecordMessage(
                self.name,
                record,
                self._stream_version,
                datetime.now(UTC),
            )
            messages = [message]
        else:
            messages = self.messages_for(record)
        for message in messages:
            self._since_state += 1
            self._tap.write_message(message)
            if self.written is not None and message.stream == self._counted_table:
                self.written.note(message.record)

    @override
    def _sync_records(
        self,
        context: Context | None = None,
        *,
        write_messages: bool = True,
    ) -> Generator[Record]:
        # The generator is closed here and not by the garbage collector: an exception
        # that is kept somewhere would keep it, and with it the threads that read.
        with (
            self.get_record_counter(log_interval=inf) as counter,
            self.get_sync_timer(),
            closing(cast("Generator[Record]", self.get_records(context))) as records,
        ):
            try:
                for record in records:
                    self._check_max_record_limit(counter.value)
                    self._emit(record)
                    counter.increment()
                    yield record
            except OutputError:
                raise
            except (Exception, SystemExit):
                # What has been read is kept, and the error that ended it is raised.
                with suppress(OutputError):
                    self.write_state()
                raise
            version = self._stream_version
            if version is not None:
                self._activate(version, counter.value)
            self.write_state()

    def _activate(self, version: int, records: int) -> None:
        """Let the target delete the rows of earlier versions, if that is safe."""
        if records:
            if self.may_delete_others(records):
                super()._write_activate_version_message(version)
        else:
            self.logger.warning(
                "Delete rows in the warehouse if they are to go: no ACTIVATE_VERSION "
                "is sent, as no record was written"
            )

    @override
    def _write_activate_version_message(self, full_table_version: int) -> None:
        # The SDK calls this before the records; the message is sent after them. A
        # target would take records without a version for deleted.
        return

    @override
    def get_replication_key_signpost(self, context: Context | None = None) -> None:
        # The stream has a bookmark of its own.
        return None
