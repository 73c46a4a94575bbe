"""Writes Singer messages to standard output, each whole."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from singer_sdk.contrib.msgspec import MsgSpecWriter

if TYPE_CHECKING:
    from singer_sdk.singerlib import Message


class Writer(MsgSpecWriter):
    """The SDK's fast writer, safe where standard output is not buffered.

    With PYTHONUNBUFFERED, a write into a full pipe that a signal interrupts returns
    having written only a part, and the next message would go on in its line.
    """

    def write_message(self, message: Message) -> None:
        """Write a message and flush it.

        Args:
            message: Any Singer message.
        """
        with memoryview(self.format_message(message)) as line:
            written = 0
            while written < len(line):
                written += sys.stdout.buffer.write(line[written:])
        sys.stdout.flush()
