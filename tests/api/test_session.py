"""Sending and reading over real sockets: connections, sizes, time."""

import gzip
import socket
import tracemalloc
from contextlib import suppress
from threading import Event
from typing import Any

import pytest
import requests

from tap_leadintent.api.failures import explain_no_response
from tap_leadintent.api.session import new_session
from tap_leadintent.errors import Reason, StreamError
from tap_leadintent.singer.log import Secret
from tests.support.helpers import TIMEOUT, Clock
from tests.support.servers import (
    CHUNKED,
    PAGE,
    listening,
    read_request,
    response,
    serving,
)

LONG = PAGE * 3000
"""Longer than what is read at once."""


def post(
    session: requests.Session, address: tuple[str, int], **options: Any
) -> requests.Response:
    url = "http://{}:{}/".format(*address)
    return session.post(url, json={}, **{"timeout": 60, **options})


@pytest.mark.parametrize(
    "content",
    [
        response(LONG),
        CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(LONG), LONG),
        response(gzip.compress(LONG), "Content-Encoding: gzip"),
    ],
    ids=["plain", "chunked", "gzip"],
)
def test_valid_responses_share_one_connection(
    monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """Each request has its own time, however old the connection is."""
    clock = Clock()
    monkeypatch.setattr("tap_leadintent.api.session.time", clock)
    connections, contents = [], set()

    def serve(connection: socket.socket) -> None:
        connections.append(connection)
        serving(content[:7], content[7:])(connection)

    with listening(serve) as address, new_session("", 1) as session:
        for _ in range(3):
            contents.add(post(session, address).content)
            clock.now += 1_000
    assert contents == {LONG}
    assert len(connections) == 1


OK = b"HTTP/1.1 200 OK\r\n"
HEADER = b"A: b\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
GZIP = gzip.compress(b"")[:10]
ENDLESS: dict[str, tuple[str, bytes, bytes, float]] = {
    "status line": ("http", b"HTTP/1.1 200 ", b"x", 0.02),
    "headers": ("http", OK, HEADER, 0.02),
    "continue": ("http", b"", CONTINUE, 0.02),
    "flood": ("http", b"", CONTINUE * 100, 0),
    "body": ("http", response(b"x" * 10**6)[: -(10**6)], b"x", 0.02),
    "chunks": ("http", CHUNKED, b"1\r\nx\r\n", 0.02),
    "chunk extension": ("http", CHUNKED + b"1;", b"x", 0.02),
    "trailers": ("http", CHUNKED + b"0\r\n", HEADER, 0.02),
    "empty gzip": (
        *("http", OK + b"Content-Encoding: gzip\r\n\r\n" + GZIP),
        *(b"\0\0\0\xff\xff", 0.02),
    ),
    "headers of a proxy": ("https", OK, HEADER, 0.02),
}
"""The scheme of the address, what comes at once, what comes again and again, and the
seconds between."""


@pytest.mark.parametrize(
    ("scheme", "head", "part", "seconds"), ENDLESS.values(), ids=ENDLESS
)
def test_the_timeout_bounds_every_part_of_a_response(
    session: requests.Session, scheme: str, head: bytes, part: bytes, seconds: float
) -> None:
    has_ended = Event()

    def drip(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(head)
        while not has_ended.wait(seconds):
            connection.sendall(part)

    with listening(drip) as (host, port):
        url, session.proxies = f"{scheme}://127.0.0.1:{port}/", {}
        if scheme == "https":
            session.proxies = {"https": f"http://{host}:{port}"}
        try:
            with pytest.raises(requests.RequestException) as caught:
                session.post(url, json={}, timeout=0.2)
        finally:
            has_ended.set()
    error = explain_no_response(caught.value, url, 0.2, Secret(""))
    assert (error.reason, error.is_retryable) == (Reason.NO_RESPONSE, True)


@pytest.mark.parametrize(
    "content",
    [
        response(b"x" * 10**6),
        response(gzip.compress(b"x" * 3 * 10**6), "Content-Encoding: gzip"),
        CHUNKED + b"2\r\nxx\r\n" * 10**5,
    ],
    ids=["long", "bomb", "tiny chunks"],
)
def test_a_body_that_is_too_large_takes_no_more_memory(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr("tap_leadintent.api.session.LARGEST_BODY", 10**5)
    is_closed = Event()

    def serve(connection: socket.socket) -> None:
        with suppress(OSError):
            serving(content)(connection)
        is_closed.set()

    with listening(serve) as address:
        tracemalloc.start()
        try:
            with pytest.raises(StreamError, match="lower page_size") as caught:
                post(session, address)
            # What has arrived completely leaves the connection open.
            assert b"gzip" in content or is_closed.wait(TIMEOUT)
            assert caught.value.reason is Reason.TOO_LARGE
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 10**6
