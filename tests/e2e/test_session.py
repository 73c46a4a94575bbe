"""Sending and reading over real sockets: connections, sizes, time."""

import gzip
import socket
import tracemalloc
from threading import Event
from typing import Any

import pytest
import requests

from tap_leadintent.api.session import new_session
from tap_leadintent.errors import StreamError
from tests.support.servers import (
    CHUNKED,
    PAGE,
    answering,
    listening,
    read_request,
    response,
)

LONG = PAGE * 3000
"""Longer than what is read at once."""


def post(
    session: requests.Session, address: tuple[str, int], **options: Any
) -> requests.Response:
    url = "http://{}:{}/".format(*address)
    return session.post(url, json={}, **{"timeout": 60, **options})


@pytest.mark.parametrize(
    "answer",
    [
        response(LONG),
        CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(LONG), LONG),
        response(gzip.compress(LONG), "Content-Encoding: gzip"),
    ],
    ids=["plain", "chunked", "gzip"],
)
def test_sound_answers_arrive_over_one_connection(answer: bytes) -> None:
    connections = []

    def serve(connection: socket.socket) -> None:
        connections.append(connection)
        answering(answer[:7], answer[7:])(connection)

    with listening(serve) as address, new_session("", 1) as session:
        contents = {post(session, address).content for _ in range(3)}
    assert contents == {LONG}
    assert len(connections) == 1


@pytest.mark.parametrize(
    ("head", "part"),
    [(response(b"x" * 10**6)[: -(10**6)], b"x"), (CHUNKED, b"1\r\nx\r\n")],
    ids=["body", "chunks"],
)
def test_a_body_that_drips_is_given_up(
    session: requests.Session, head: bytes, part: bytes
) -> None:
    def drip(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(head)
        while True:
            connection.sendall(part)
            Event().wait(0.02)

    with listening(drip) as address, pytest.raises(requests.ReadTimeout):
        post(session, address, timeout=0.2)


@pytest.mark.parametrize(
    "answer",
    [
        response(b"x" * 10**6),
        response(gzip.compress(b"x" * 3 * 10**6), "Content-Encoding: gzip"),
        CHUNKED + b"2\r\nxx\r\n" * 10**5,
    ],
    ids=["long", "bomb", "tiny chunks"],
)
def test_what_is_too_large_takes_no_more_memory(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr("tap_leadintent.api.session.LARGEST_BODY", 10**5)
    with listening(answering(answer)) as address:
        tracemalloc.start()
        try:
            with pytest.raises(StreamError, match="lower page_size"):
                post(session, address)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 10**6
