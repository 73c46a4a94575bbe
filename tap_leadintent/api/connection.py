"""Connections that are made in time, and replaced when the server has closed them.

urllib3 has no public hooks for these, so its private methods (and one of `http.client`)
are overridden here and nowhere else.
"""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    MaxRetryError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
)

from tap_leadintent.api.timeout import BoundedResponse

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

_LEAST = 0.001
"""Seconds: the shortest timeout, as none at all would mean not to wait."""


_LONGEST = 86400.0
"""Seconds, where no timeout is given, which the tap always does."""


class _KeptConnectionError(ConnectionResetError):
    """A connection over which an answer has come was closed before the next one."""


class _Connection(HTTPConnection):
    response_class = BoundedResponse

    _end = 0.0
    """When the connection must have been made, on the monotonic clock."""

    _has_answered = False

    def connect(self) -> None:
        """Make the connection, within its timeout as a whole.

        The look-up of the host's address is not part of it: nothing can bound that.

        Raises:
            ConnectTimeoutError: It took too long.
            NewConnectionError: It could not be made.
        """
        self._has_answered = False
        try:
            super().connect()
        except TimeoutError as error:
            msg = f"Connection to {self.host} timed out: {error}"
            raise ConnectTimeoutError(self, msg) from error
        except ConnectionError as error:
            msg = f"Failed to establish a new connection: {error}"
            raise NewConnectionError(self, msg) from error

    def getresponse(self) -> Any:  # noqa: ANN401
        """Wait for an answer.

        Returns:
            Its status and headers.

        Raises:
            _KeptConnectionError: The server had closed the connection since its last
                answer.
        """
        try:
            response = super().getresponse()
        except ConnectionResetError as error:
            if self._has_answered:
                raise _KeptConnectionError(*error.args) from error
            raise
        self._has_answered = True
        return response

    def _new_conn(self) -> socket.socket:
        host, seconds = self._dns_host, self.timeout
        addresses = _look_up(host, self.port)
        self._end = time.monotonic() + (seconds or _LONGEST)
        for left in range(len(addresses), 0, -1):
            # An address that does not answer leaves time for the others.
            self.host, self.timeout = addresses[-left], self._left() / left
            try:
                sock = super()._new_conn()
            except ConnectTimeoutError:
                if left == 1:
                    raise
            else:
                sock.settimeout(self._left())
                return sock
            finally:
                self.host, self.timeout = host, seconds
        raise AssertionError  # There is one address at least.

    def _tunnel(self) -> None:
        super()._tunnel()
        self.sock.settimeout(self._left())

    def _left(self) -> float:
        return max(_LEAST, self._end - time.monotonic())


class _SecureConnection(_Connection, HTTPSConnection):
    pass


def _look_up(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return [host]  # The library, which looks it up again, says what is wrong.
    return [str(address[0]) for *_, address in found]


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection

    def urlopen(self, *args: Any, **kwargs: Any) -> BaseHTTPResponse:
        """Send a request; once more, if a connection was kept that the server closed.

        Args:
            args: As for `HTTPConnectionPool.urlopen`.
            kwargs: Likewise.

        Returns:
            The answer, whose body is still to be read.
        """
        try:
            return super().urlopen(*args, **kwargs)
        except (MaxRetryError, ProtocolError) as error:
            if not _is_of_kept_connection(error):
                raise
        return super().urlopen(*args, **kwargs)


class _SecurePool(_Pool, HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


def _is_of_kept_connection(error: Exception) -> bool:
    reason = error.reason if isinstance(error, MaxRetryError) else error
    if isinstance(reason, (ProtocolError, ProxyError)):
        return isinstance(reason.args[-1], _KeptConnectionError)
    return False


def use_bounded_connections(manager: PoolManager) -> None:
    """Have a manager make connections as this module has them.

    Args:
        manager: The manager, before its first request.
    """
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
