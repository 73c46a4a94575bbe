"""Bounds the time to connect, and replaces a kept connection that the server closed.

urllib3 has no public hooks for this, so its private methods (and one of `http.client`)
are overridden here and nowhere else.
"""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

from typing_extensions import override
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

_SHORTEST_TIMEOUT = 0.001
"""Seconds. Zero would make the socket non-blocking."""

_NO_TIMEOUT = 86400.0
"""Seconds that stand for no timeout. The tap always sets one."""


class _KeptConnectionError(ConnectionResetError):
    """The server closed a connection after a response and before the next one."""


class _Connection(HTTPConnection):
    response_class = BoundedResponse

    _end = 0.0
    """When connecting must be done, on the monotonic clock."""

    _has_answered = False

    @override
    def connect(self) -> None:
        # The timeout bounds TCP and TLS together. It does not bound the look-up of the
        # host's address, which cannot be interrupted.
        self._has_answered = False
        try:
            super().connect()
        except TimeoutError as error:
            msg = f"Connection to {self.host} timed out: {error}"
            raise ConnectTimeoutError(self, msg) from error
        except ConnectionError as error:
            msg = f"Failed to establish a new connection: {error}"
            raise NewConnectionError(self, msg) from error

    @override
    def getresponse(self) -> Any:
        try:
            response = super().getresponse()
        except ConnectionResetError as error:
            if self._has_answered:
                raise _KeptConnectionError(*error.args) from error
            raise
        self._has_answered = True
        return response

    @override
    def _new_conn(self) -> socket.socket:
        host, seconds = self._dns_host, self.timeout
        addresses = _look_up(host, self.port)
        self._end = time.monotonic() + (seconds or _NO_TIMEOUT)
        for left in range(len(addresses), 0, -1):
            # An address that does not respond must leave time for the others.
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

    @override
    def _tunnel(self) -> None:
        super()._tunnel()
        self.sock.settimeout(self._left())

    def _left(self) -> float:
        return max(_SHORTEST_TIMEOUT, self._end - time.monotonic())


class _SecureConnection(_Connection, HTTPSConnection):
    pass


def _look_up(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return [host]  # The library looks it up again and raises its own error.
    return [str(address[0]) for *_, address in found]


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection

    @override
    def urlopen(self, *args: Any, **kwargs: Any) -> BaseHTTPResponse:
        # A request on a kept connection that the server closed is sent once more.
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
    """Make a pool manager use the connections of this module.

    Args:
        manager: The manager, before its first request.
    """
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
