"""Writes Singer messages to standard output, in blocks of complete lines."""

import io
import select
import sys
from typing import BinaryIO

from singer_sdk.contrib.msgspec import MsgSpecWriter
from singer_sdk.singerlib import Message, RecordMessage, StateMessage
from typing_extensions import override

from tap_leadintent.singer.errors import OutputError

_BLOCK = 256 * 1024
"""The bytes of a block, about a page of records. Records are not written one by one, as
each write is a switch between threads."""


class Writer(MsgSpecWriter):
    """The SDK's fast writer, which collects lines in blocks and tears none of them.

    Without a buffer, such as with PYTHONUNBUFFERED, a signal can interrupt a write into
    a full pipe. Only a part of the block is written then, so the writer goes on with
    what remains. Where standard output takes only text, lines are written as text.
    """

    def __init__(self) -> None:
        # It keeps its memory: to return some of it and ask again for each block takes
        # 5 % of the time.
        self._block = io.BytesIO()
        self._written = 0
        """How many bytes of the block have been written."""
        self.taken = 0
        """How many bytes the target has taken; text is not counted."""
        self.ends_with_state = True
        """Whether no message has been written since the last STATE."""

    @override
    def write_message(self, message: Message) -> None:
        # A record may wait for others; other messages are written at once. A STATE is a
        # write of its own: a pipe takes up to `PIPE_BUF` bytes at once or not at all,
        # so a process that is killed writes no part of a STATE.
        line = self.format_message(message)
        self.ends_with_state = isinstance(message, StateMessage)
        if self.ends_with_state:
            self.flush()
        self._block.write(line)
        may_wait = isinstance(message, RecordMessage)
        is_full = self._block.tell() >= _BLOCK
        if is_full or not may_wait:
            self.flush()

    def flush(self) -> None:
        """Write the block.

        Raises:
            OutputError: Standard output cannot be written.
        """
        stdout = sys.stdout
        try:
            if hasattr(stdout, "buffer"):
                self._write_bytes(stdout.buffer)
            else:  # It takes only text, for example in a notebook.
                end = self._block.tell()
                lines = self._block.getvalue()[:end]
                stdout.write(lines.decode())
                stdout.flush()
        except OSError as error:
            reason = f"standard output cannot be written: {error.strerror}"
            if isinstance(error, BrokenPipeError):
                reason = "the target stopped reading; its own log says why"
            raise OutputError(reason) from None
        self._block.seek(0)
        self._written = 0

    def _write_bytes(self, stdout: BinaryIO) -> None:
        # A buffer could keep a part of a line when the process ends.
        raw = getattr(stdout, "raw", stdout)
        end = self._block.tell()
        while self._written < end:
            with self._block.getbuffer() as block, block[self._written : end] as rest:
                written = raw.write(rest)
            if written is None:  # The pipe is full, and does not block.
                select.select([], [raw], [])
                continue
            self._written += written
            self.taken += written
