"""Sending and reading over real sockets: connections, sizes, time."""

import gzip
import socket
import tracemalloc
from contextlib import suppress
from threading import Event

import pytest
import requests

from tap_leadintent.api.limits import Limits
from tap_leadintent.api.session import TooLargeError, exchange, new_session
from tests.support.helpers import TIMEOUT, Clock, lines_with
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
    session: requests.Session,
    address: tuple[str, int],
    seconds: float = 60,
    limits: Limits | None = None,
) -> bytes:
    request = requests.Request(
        "POST",
        "http://{}:{}/".format(*address),
        json={},
    )
    _, body = exchange(
        session,
        request,
        seconds,
        limits or Limits(),
    )
    return body


@pytest.mark.parametrize(
    "content",
    [
        response(LONG),
        CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(LONG), LONG),
        response(gzip.compress(LONG), "Content-Encoding: gzip"),
    ],
    ids=["plain", "chunked", "gzip"],
)
def test_valid_responses_share_one_connection(clock: Clock, content: bytes) -> None:
    """Each request has its own time, however old the connection is."""
    connections = []
    contents = set()

    def serve(connection: socket.socket) -> None:
        connections.append(connection)
        serving(content[:7], content[7:])(connection)

    with listening(serve) as address, new_session("", 1) as session:
        for _ in range(3):
            contents.add(post(session, address, limits=clock.limits))
            clock.now += 1_000
    assert contents == {LONG}
    assert len(connections) == 1


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (response(b"x" * 10**6)[: -(10**6)], b"x"),
        (CHUNKED, b"1\r\nx\r\n"),
    ],
    ids=["plain", "chunked"],
)
def test_the_timeout_bounds_a_body_that_trickles_in(
    session: requests.Session,
    head: bytes,
    part: bytes,
) -> None:
    has_ended = Event()

    def drip(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(head)
        while not has_ended.wait(0.02):
            connection.sendall(part)

    with listening(drip) as address:
        try:
            with pytest.raises(requests.ReadTimeout):
                post(session, address, seconds=0.2)
        finally:
            has_ended.set()


def test_cookies_are_sent_back(session: requests.Session) -> None:
    """A load balancer may bind cursors to one machine by a cookie."""
    answers = [["node=a; Path=/"], ["other=b; Domain=example.com"], []]
    sent: list[list[str]] = []

    def serve(connection: socket.socket) -> None:
        while request := read_request(connection).decode():
            headers = [f"Set-Cookie: {text}" for text in answers[len(sent)]]
            sent.append(lines_with("Cookie: ", request.split("\r\n")))
            connection.sendall(response(PAGE, *headers))

    with listening(serve) as address:
        for _ in answers:
            post(session, address)
    assert sent == [[], ["Cookie: node=a"], ["Cookie: node=a"]]


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
    session: requests.Session,
    content: bytes,
) -> None:
    is_closed = Event()

    def serve(connection: socket.socket) -> None:
        with suppress(OSError):
            serving(content)(connection)
        is_closed.set()

    with listening(serve) as address:
        tracemalloc.start()
        try:
            with pytest.raises(TooLargeError):
                post(
                    session,
                    address,
                    limits=Limits(largest_body=10**5),
                )
            # What has arrived completely leaves the connection open.
            assert b"gzip" in content or is_closed.wait(TIMEOUT)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 10**6
