"""Bounds the time until a whole response has arrived, and can end a wait for one."""

from __future__ import annotations

import io
import time
from contextlib import suppress
from http.client import HTTPResponse
from socket import SHUT_RDWR
from threading import current_thread
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from typing_extensions import override

if TYPE_CHECKING:
    import socket
    from collections.abc import Collection
    from threading import Thread


class NoAnswerError(TimeoutError):
    """No byte of a response came in time."""


class _Deadline(io.RawIOBase):
    """Reads from a socket until a deadline, even if data keeps arriving."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase) -> None:
        super().__init__()
        self.thread = current_thread()
        self._socket = sock
        self._raw = raw
        self._has_begun = False
        self._end = time.monotonic() + (sock.gettimeout() or float("inf"))
        self._is_hung_up = False
        _awaited[id(self)] = self

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any, /) -> int | None:
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
            # Without this error it would look like a connection that the server closed.
            msg = "the wait for the response was ended"
            raise ConnectionAbortedError(msg)
        self._has_begun = True
        return count

    def hang_up(self) -> None:
        self._is_hung_up = True
        # The object that wraps TLS inside a proxy's TLS has no `shutdown`.
        with suppress(AttributeError, OSError):
            self._socket.shutdown(SHUT_RDWR)

    @override
    def close(self) -> None:
        _awaited.pop(id(self), None)
        self._raw.close()
        super().close()


_awaited: WeakValueDictionary[int, _Deadline] = WeakValueDictionary()


def hang_up(threads: Collection[Thread]) -> None:
    """End the waits of some threads for responses.

    Args:
        threads: The threads; others go on.
    """
    for reference in _awaited.valuerefs():
        if (answer := reference()) is not None and answer.thread in threads:
            answer.hang_up()


class BoundedResponse(HTTPResponse):
    """A response whose status line, headers and body share one timeout."""

    @override
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        # The socket's timeout is that of the whole response.
        super().__init__(sock, *args, **kwargs)
        raw = self.fp.detach()
        self.fp: io.BufferedReader = io.BufferedReader(_Deadline(sock, raw))
