"""Requests to servers that behave badly, and what is said of them."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest
import requests

from tap_leadintent.api.failures import explain
from tap_leadintent.api.session import environment
from tap_leadintent.log import Secret
from tests.support.helpers import API_KEY
from tests.support.servers import (
    read_request,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


NOWHERE = "127.0.0.1:9"
"""No test machine serves port 9 (discard)."""

SECONDS = 0.3


def fail(session: requests.Session, url: str) -> Exception:
    """Send a request that fails, as the tap does; give its error."""
    with pytest.raises(requests.RequestException) as caught:
        session.post(url, json={}, timeout=SECONDS, **environment(url))
    return caught.value


def told(session: requests.Session, url: str) -> str:
    """Give what is said of a request that fails, in one line without details."""
    text = explain(fail(session, url), url, SECONDS, Secret(API_KEY))
    assert text.isprintable()
    assert len(text) < 600
    assert API_KEY not in text
    assert not re.search(r" at 0x|Pool|Errno|\wError|object|exception|_ssl\.c", text)
    return text


@contextmanager
def unanswered() -> Iterator[str]:
    """Give the host and port of what accepts no more connections, and refuses none."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)  # noqa: FBT003
            client.connect_ex(server.getsockname())
        yield "{}:{}".format(*server.getsockname())


def saying(*parts: bytes) -> Callable[[socket.socket], None]:
    """Answer a request with these parts, and close."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        for part in parts:
            connection.sendall(part)

    return handle


def stalling(part: bytes) -> Callable[[socket.socket], None]:
    """Answer with this part, and wait for the client to go."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(part)
        connection.recv(1)

    return handle
