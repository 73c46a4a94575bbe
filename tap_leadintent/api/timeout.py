"""Answers that arrive in time all together, or whose waiting is ended."""

from __future__ import annotations

import io
import time
from contextlib import suppress
from http.client import HTTPResponse
from socket import SHUT_RDWR
from threading import current_thread
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    import socket
    from collections.abc import Collection
    from threading import Thread


class NoAnswerError(TimeoutError):
    """Not a byte of an answer came in time."""


class _Deadline(io.RawIOBase):
    """Reads from a socket until its timeout has passed, however much arrives."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase) -> None:
        super().__init__()
        self.thread = current_thread()
        self._socket = sock
        self._raw = raw
        self._has_begun = False
        self._end = time.monotonic() + (sock.gettimeout() or float("inf"))
        self._is_hung_up = False
        _awaited[id(self)] = self

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401
        left = self._end - time.monotonic()
        if left <= 0:
            msg = "the answer did not arrive whole in time"
            raise TimeoutError(msg)
        self._socket.settimeout(None if left == float("inf") else left)
        try:
            count = self._raw.readinto(buffer)
        except TimeoutError as error:
            if self._has_begun:
                raise
            raise NoAnswerError(*error.args) from None
        if not count and self._is_hung_up:
            # Or it might look like a kept connection that the server has closed.
            msg = "nobody waits for the answer any more"
            raise ConnectionAbortedError(msg)
        self._has_begun = True
        return count

    def hang_up(self) -> None:
        self._is_hung_up = True
        # What stands in for a socket inside a proxy's TLS has no such method.
        with suppress(AttributeError, OSError):
            self._socket.shutdown(SHUT_RDWR)

    def close(self) -> None:
        _awaited.pop(id(self), None)
        self._raw.close()
        super().close()


_awaited: WeakValueDictionary[int, _Deadline] = WeakValueDictionary()


def hang_up(threads: Collection[Thread]) -> None:
    """End all waiting of some threads for answers.

    Args:
        threads: These threads; the others of the process go on.
    """
    for reference in _awaited.valuerefs():
        if (answer := reference()) is not None and answer.thread in threads:
            answer.hang_up()


class BoundedResponse(HTTPResponse):
    """A status line, headers and a body that arrive in time all together."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        """Begin to wait.

        Args:
            sock: What it arrives at, whose timeout is that of the whole answer.
            args: As for `HTTPResponse`.
            kwargs: Likewise.
        """
        super().__init__(sock, *args, **kwargs)
        raw = self.fp.detach()
        self.fp: io.BufferedReader = io.BufferedReader(_Deadline(sock, raw))

    def _read_next_chunk_size(self) -> int:
        # Private, for want of a public hook: the library's takes a negative size for
        # one, of which it reads without end.
        size: int = super()._read_next_chunk_size()  # type: ignore[misc]
        if size < 0:
            raise ValueError(size)
        return size
