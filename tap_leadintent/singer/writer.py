"""Writes Singer messages to standard output, in blocks of complete lines."""

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
        self._block = bytearray()
        self.taken = 0
        """How many bytes the target has taken; text is not counted."""

    @override
    def write_message(self, message: Message) -> None:
        # A record may wait for others; other messages are written at once. A STATE is a
        # write of its own: a pipe takes up to `PIPE_BUF` bytes at once or not at all,
        # so a process that is killed writes no part of a STATE.
        if isinstance(message, StateMessage):
            self.flush()
        self._block += self.format_message(message)
        if len(self._block) >= _BLOCK or not isinstance(message, RecordMessage):
            self.flush()

    def flush(self) -> None:
        """Write the block.

        Raises:
            OutputError: Standard output cannot be written.
        """
        stdout, block = sys.stdout, self._block
        self._block = bytearray()
        try:
            if hasattr(stdout, "buffer"):
                self._write_bytes(stdout.buffer, memoryview(block))
            else:  # It takes only text, for example in a notebook.
                stdout.write(block.decode())
                stdout.flush()
        except OSError as error:
            reason = f"standard output cannot be written: {error.strerror}"
            if isinstance(error, BrokenPipeError):
                reason = "the target stopped reading; its own log says why"
            raise OutputError(reason) from None

    def _write_bytes(self, stdout: BinaryIO, block: memoryview) -> None:
        # A buffer could keep a part of a line when the process ends.
        raw = getattr(stdout, "raw", stdout)
        while block:
            # None says that the pipe is full and does not block.
            written = raw.write(block) or 0
            self.taken += written
            block = block[written:]
