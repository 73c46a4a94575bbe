"""Writes the messages of a stream. A STATE covers only what was written before it.

The SDK works differently in four ways. It makes a bookmark from records, which does not
say what has been read. It may write a STATE before a BATCH that the STATE covers. It
sends ACTIVATE_VERSION before the records. It passes over each record several times,
even if there is nothing to change. It has no public hook for these, so its private loop
over the records is overridden here.
"""

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from typing import Any, cast

from singer_sdk import Stream, Tap
from singer_sdk.helpers.types import Context
from singer_sdk.mapper import RemoveRecordTransform, SameRecordTransform
from singer_sdk.singerlib import ActivateVersionMessage, RecordMessage
from typing_extensions import override

from tap_leadintent.singer import log
from tap_leadintent.singer.batch import Batches
from tap_leadintent.singer.writer import flush

Record = dict[str, Any]

_MIN_BETWEEN_STATES = 300
"""A STATE is written when the state has changed and so many records and changes have
been emitted since the last one. Changes count, so that a long time without records is
saved, too; records in batches do not. A target writes what it has at each STATE."""


class SingerStream(Stream):
    """A stream whose STATE says only what has been written before it."""

    extra_column: str = ""
    """The column of the fields that have no column of their own, if there is one.
    Without it, they are dropped when records are flattened."""

    how_to_leave_out: str = "deselect it"
    """What a user does to leave a field out, for messages."""

    def shaper_for(self, columns: Record) -> Callable[[list[Record]], list[Record]]:
        """Return a function that fits flat records to columns.

        A stream may override it to check types, or to fill `extra_column`.

        Args:
            columns: The schema of each column, by the column's name.

        Returns:
            A function from records to records that have no other columns.
        """
        return lambda records: [
            {name: value for name, value in record.items() if name in columns}
            for record in records
        ]

    def __init__(self, tap: Tap) -> None:
        """Create the stream for a run.

        Args:
            tap: The tap, with its settings and state.
        """
        super().__init__(tap)
        self.logger.addFilter(log.Redaction(self.name))
        self._since_state = 0
        """How many records and changes of the state there were since the last STATE."""

    @cached_property
    def _batch(self) -> Batches | None:
        """Collects the rows if they go into files."""
        if not (config := self.config.get("batch_config")):
            return None
        schemas = {m.stream_alias: m.transformed_schema for m in self.stream_maps}
        return Batches(self._tap.name, config, schemas, self._tap.write_message)

    @property
    @override
    def logger(self) -> logging.Logger:
        # From version 0.55 on, the SDK's is an adapter that replaces `extra` of a line.
        return logging.getLogger(f"{self.tap_name}.{self.name}")

    @override
    def log(self, message: str, *args: Any, **options: Any) -> None:
        # The SDK logs the start and the failure of a stream; the tap does so itself.
        super().log(message, *args, **{**options, "level": logging.DEBUG})

    def current_state(self) -> dict[str, Any]:
        """Return the stream's state; all records that it covers have been emitted."""
        return {}

    def begin_state(self) -> None:
        """Prepare the state before the first STATE of the run."""

    def flush(self) -> None:
        """Let the target have all records that have been emitted.

        Raises:
            OutputError: Standard output cannot be written.
        """
        flush(self._tap)

    def messages_for(self, record: Record) -> list[RecordMessage]:
        """Return the messages that stream maps make of a record.

        Args:
            record: A record of the stream, which may be changed.
        """
        return [*self._generate_record_messages(record)]

    def checkpoint(self) -> None:
        """Count a change of the stream's state, and write a STATE if one is due.

        It is due if 300 records and changes have been emitted since the last one, or if
        a batch is old.
        """
        self._since_state += 1
        is_old = self._batch is not None and self._batch.is_old
        if is_old or self._since_state >= _MIN_BETWEEN_STATES:
            self.write_state()

    def copy_state_to_tap(self) -> None:
        """Copy the stream's state into the tap's, for a STATE of a run that ends early.

        With batches, rows that the state covers may still wait for their batch, so
        nothing changes.
        """
        if self._batch is None:
            self.stream_state.update(self.current_state())

    def write_state(self) -> None:
        """Write a STATE, after all records that have been emitted."""
        if self._batch is not None:
            self._batch.write()
        self.stream_state.update(self.current_state())
        self._since_state = 0
        self._tap.state_writer.write_state(self.tap_state)

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
            messages = [RecordMessage(self.name, record, self._stream_version)]
            # Set later, as the constructor would convert it to UTC once more.
            messages[0].time_extracted = datetime.now(UTC)
        else:
            messages = self.messages_for(record)
        for message in messages:
            if self._batch is None:
                self._since_state += 1
                self._tap.write_message(message)
            elif self._batch.add(message.stream, message.record):
                self.write_state()

    @override
    def _sync_records(
        self, context: Context | None = None, *, write_messages: bool = True
    ) -> Generator[Record]:
        # The generator is closed here and not by the garbage collector: an exception
        # that is kept somewhere would keep it, and with it the threads that read.
        with (
            closing(self._batch) if self._batch else nullcontext(),
            self.get_record_counter(log_interval=inf) as counter,
            self.get_sync_timer(),
            closing(cast("Generator[Record]", self.get_records(context))) as records,
        ):
            count = 0
            try:
                for record in records:
                    self._check_max_record_limit(count)
                    self._emit(record)
                    count += 1
                    yield record
            finally:
                counter.increment(count)
            if (version := self._stream_version) is not None and self._batch is None:
                self._activate_version(version)
            self.write_state()

    def _activate_version(self, version: int) -> None:
        # Version 0.54.2 of the SDK writes the message past the tap's writer, which
        # may hold rows, and does not name the tables that maps make.
        for stream_map in self.stream_maps:
            if not isinstance(stream_map, RemoveRecordTransform):
                name = stream_map.stream_alias
                message = ActivateVersionMessage(stream=name, version=version)
                self._tap.write_message(message)

    @override
    def _write_activate_version_message(self, full_table_version: int) -> None:
        # The SDK calls this before the records; the message is sent after them. A
        # target would take records without a version for deleted.
        if self._batch is not None:
            self.logger.warning(
                "No ACTIVATE_VERSION is sent, as records in a BATCH have no version"
            )

    @override
    def get_batch_config(self, config: Mapping[str, Any]) -> None:
        # The SDK's own batches would hold unmapped and deselected fields.
        return None

    @override
    def get_replication_key_signpost(self, context: Context | None = None) -> None:
        # The stream has a bookmark of its own.
        return None
