"""Writes Singer messages to standard output, in blocks of whole lines."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from singer_sdk.contrib.msgspec import MsgSpecWriter
from singer_sdk.singerlib import RecordMessage, StateMessage

from tap_leadintent.errors import LOGGER, OutputError

if TYPE_CHECKING:
    from singer_sdk.singerlib import Message

_BLOCK = 256 * 1024
"""Bytes, about a page. Each write lets go of the interpreter, which costs a switch."""


class Writer(MsgSpecWriter):
    """The SDK's fast writer, in blocks, and safe where stdout is not buffered.

    With PYTHONUNBUFFERED, a write into a full pipe that a signal interrupts returns
    having written only a part, and the next message would go on in its line.
    """

    def __init__(self) -> None:
        """Begin with nothing that waits."""
        self._block = bytearray()

    def write_message(self, message: Message) -> None:
        """Write a message; a record may wait for others, all else does not.

        A STATE is a write of its own: a pipe takes up to `PIPE_BUF` bytes as a whole or
        not at all, so that a process that is ended in the midst leaves no part of one.

        Args:
            message: Any Singer message.

        Raises:
            OutputError: Standard output cannot be written.
        """
        line = self.format_message(message)
        if isinstance(message, StateMessage):
            # Not at import: who sets logging up disables the loggers that there are.
            logging.getLogger(LOGGER).debug("Writing %s", line.decode().strip())
            self.flush()
        self._block += line
        if len(self._block) >= _BLOCK or not isinstance(message, RecordMessage):
            self.flush()

    def flush(self) -> None:
        """Hand over what waits.

        Raises:
            OutputError: Standard output cannot be written.
        """
        try:
            while self._block:
                written = sys.stdout.buffer.write(self._block)
                del self._block[:written]
            sys.stdout.flush()
        except OSError as error:
            _let_go_of_stdout()
            msg = f"standard output cannot be written: {error.strerror}"
            if isinstance(error, BrokenPipeError):
                msg = "the target stopped reading; its own log says why"
            raise OutputError(msg) from None


def _let_go_of_stdout() -> None:
    # What Python still holds for it must not fail again at exit.
    with suppress(OSError):  # It may be no file at all.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def flush(writer: object) -> None:
    """Hand over what waits in the tap's writer.

    Args:
        writer: The writer; one that somebody else has made lets nothing wait.

    Raises:
        OutputError: Standard output cannot be written.
    """
    if isinstance(writer, Writer):
        writer.flush()
