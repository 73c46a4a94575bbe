"""Reads and writes states, in the form of `meltano state get` or as they are."""

import json
from typing import Any, NamedTuple

import click
import msgspec

from tap_leadintent.config.files import StateFile
from tap_leadintent.log import Secret

_OF_MELTANO = "singer_state"
"""Where what `meltano state get` prints holds the state."""

RawState = dict[str, Any]
"""The state of a stream, of any content."""


class StateError(click.ClickException):
    """Ends the command: one line, and exit code 1."""

    def __init__(self, message: str, secret: object = None) -> None:
        """Keep the message, as one line that a terminal can show.

        Args:
            message: What is wrong and what to do.
            secret: The key, which is not shown.
        """
        super().__init__(Secret(secret).summarize(message))


class Document(NamedTuple):
    """A state, alone or in what Meltano keeps around it."""

    whole: dict[str, Any]
    """The JSON that was read."""

    bookmarks: dict[str, RawState]
    """The state of each stream."""

    def with_bookmarks(self, bookmarks: dict[str, RawState]) -> str:
        """Write it with other bookmarks.

        Args:
            bookmarks: The new state of each stream.

        Returns:
            One line of JSON, in ASCII, which has the form of what was read.
        """
        state = {**self.whole.get(_OF_MELTANO, self.whole), "bookmarks": bookmarks}
        is_wrapped = _OF_MELTANO in self.whole
        return json.dumps({**self.whole, _OF_MELTANO: state} if is_wrapped else state)


def read_document(path: str) -> Document:
    """Read a state.

    Args:
        path: Its file, or "-" for standard input.

    Returns:
        The state. What it says of each stream may have any content.

    Raises:
        StateError: It cannot be read, or is not a state, or an empty one.
    """
    name = "standard input" if path == "-" else path
    try:
        with click.open_file(path, encoding="utf-8") as file:
            whole = msgspec.json.decode(file.read(), type=dict[str, Any])
        state = whole.get(_OF_MELTANO, whole) or {}
        bookmarks = msgspec.convert(state, StateFile).bookmarks
    except (OSError, RecursionError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        msg = f"{name}: {told}; give what `meltano state get` prints"
    else:
        if bookmarks:
            return Document(whole, bookmarks)
        msg = (
            f"{name}: the state is empty; the next run reads everything with it, if "
            "its name is right: see `meltano state list`"
        )
    raise StateError(msg)
