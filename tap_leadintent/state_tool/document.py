"""Reads and writes states, alone or in the form of `meltano state get`."""

import json
from typing import Any, NamedTuple

from tap_leadintent.singer.errors import TapError
from tap_leadintent.singer.files import bookmarks_of, read_json

_MELTANO_KEY = "singer_state"
"""The key of the state in what `meltano state get` prints."""

RawState = dict[str, Any]
"""The state of one stream. It may have any content."""


class StateError(TapError):
    """A state is not what a command needs."""


class Document(NamedTuple):
    """A state, alone or with what Meltano keeps beside it."""

    content: dict[str, Any]
    """The JSON object that was read."""

    states: dict[str, RawState]
    """The state of each stream."""

    def with_states(self, states: dict[str, RawState]) -> str:
        """Return the document with other states, in the form that was read.

        Args:
            states: The new state of each stream.

        Returns:
            One line of JSON, in ASCII.
        """
        former = self.content.get(_MELTANO_KEY, self.content)
        changed = {**former, "bookmarks": states}
        if _MELTANO_KEY in self.content:
            changed = {**self.content, _MELTANO_KEY: changed}
        return json.dumps(changed)


def read_document(path: str) -> Document:
    """Read a state from a file.

    Args:
        path: The path of the file, or "-" for standard input.

    Returns:
        The state. The content of each stream's state is not checked.

    Raises:
        StateError: The file cannot be read, is not a state, or is an empty state.
    """
    name = "standard input" if path == "-" else path
    try:
        content = read_json(path)
        state = content.get(_MELTANO_KEY, content)
        states = bookmarks_of(state or {})
    except (OSError, ValueError) as error:
        first_line, _, _ = str(error).partition("\n")
        reason = getattr(error, "strerror", None) or first_line
        raise StateError(
            f"{name}: {reason}; give what `meltano state get` prints, or the value of "
            "the last STATE"
        ) from None
    if not states:
        raise StateError(
            f"{name}: the state is empty, so the next run reads everything; if you "
            "did not expect that, compare its name with `meltano state list`"
        )
    return Document(content, states)
