"""Reads and writes states, in the form of `meltano state get` or as they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.config.files import StateFile
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.source import Source
from tap_leadintent.replication.state_check import unknown_names
from tap_leadintent.state_tool.errors import StateError
from tap_leadintent.state_tool.sources import sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tap_leadintent.state_tool.streams import Stream

_MOST_BYTES = 16 * 2**20
"""Room for a hundred thousand intervals. More would take long to read, only to be
refused; less might refuse a state."""

_OF_MELTANO = "singer_state"
"""Where what `meltano state get` prints holds the state."""


class Document:
    """A state, alone or in what Meltano keeps around it."""

    def __init__(self, name: str, whole: dict[str, Any]) -> None:
        """Find the state.

        Args:
            name: Its name in messages.
            whole: The JSON that was read.

        Raises:
            ValueError: It holds no state.
        """
        self.name = name
        self._whole = whole
        is_wrapped = _OF_MELTANO in whole
        self._state = (whole[_OF_MELTANO] or {}) if is_wrapped else whole
        form = msgspec.convert(self._state, StateFile)
        if self._state and "bookmarks" not in self._state:
            msg = 'is not a Singer state, which has "bookmarks"'
            raise ValueError(msg)
        self.bookmarks: dict[str, dict[str, Any]] = form.bookmarks

    def with_bookmarks(self, bookmarks: Mapping[str, Any]) -> str:
        """Write it with other bookmarks.

        Args:
            bookmarks: The new state of each stream.

        Returns:
            One line of JSON, which has the form of what was read.
        """
        state = {**self._state, "bookmarks": bookmarks}
        is_wrapped = _OF_MELTANO in self._whole
        whole = {**self._whole, _OF_MELTANO: state} if is_wrapped else state
        return msgspec.json.encode(whole).decode()


def read_document(
    path: str, streams: Mapping[str, Stream], *, may_be_empty: bool = False
) -> Document:
    """Read a state and check all of it.

    Args:
        path: Its file, or "-" for standard input.
        streams: The streams that there are.
        may_be_empty: Whether a state without bookmarks is accepted.

    Returns:
        The state; each of its entries is valid.

    Raises:
        StateError: It is not a state of this tap, or a part of it is malformed.
    """
    name = "standard input" if path == "-" else path
    try:
        document = Document(name, _decode(path))
        _check(document, streams)
    except OSError as error:
        msg = f"{name}: {error.strerror}"
    except RecursionError:
        msg = f"{name}: is nested too deeply for a state"
    except ValueError as error:
        msg = f"{name}: {str(error).partition(chr(10))[0]}"
    else:
        if document.bookmarks or may_be_empty:
            return document
        msg = f"{name}: the state is empty; nothing has been read with it yet"
    raise StateError(msg)


def _decode(path: str) -> dict[str, Any]:
    if path == "-":
        data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    else:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        msg = f"is larger than {_MOST_BYTES // 2**20} MiB, so it is not a state"
        raise ValueError(msg)
    if not data.strip():
        msg = "is empty; a state was expected, such as `meltano state get` prints"
        raise ValueError(msg)
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError as error:
        msg = f"is not a JSON object ({error})"
        raise ValueError(msg) from None


def _check(document: Document, streams: Mapping[str, Stream]) -> None:
    ranges = {name: stream.ranges for name, stream in streams.items()}
    for line in unknown_names(document.bookmarks, ranges):
        raise ValueError(line)
    for name, state in document.bookmarks.items():
        if not ranges[name]:
            continue
        try:
            found = [
                Bookmark.read(state, source).problem
                for source in sources(state) or [Source("", "")]
            ]
        except ValueError as error:
            found = [str(error)]
        for problem in filter(None, found):
            msg = f"{name}: {problem}"
            raise ValueError(msg)
