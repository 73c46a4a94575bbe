"""Answers over real sockets: given up in time, or when a run ends."""

from __future__ import annotations

import gzip
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING

import pytest
import requests

from tap_leadintent.api.session import BoundedAdapter, new_session
from tap_leadintent.api.timeout import hang_up
from tests.support.servers import (
    CHUNKED,
    PAGE,
    PAUSE,
    answering,
    bytewise,
    listening,
    read_request,
    response,
    trickle,
)

if TYPE_CHECKING:
    import socket
    from pathlib import Path

TIMEOUT, PATIENCE = 0.2, 60


@pytest.mark.parametrize(
    "parts",
    [
        trickle(response(b"x", f"X-Long: {'x' * 60}")),
        [b"HTTP/1.1 200 OK\r\n", *[b"X-More: 1\r\n"] * 60, b"\r\n"],
        [response(PAGE)[: -len(PAGE)], *bytewise(PAGE)],
        [CHUNKED, *trickle(b"1;" + b"x" * 60 + b"\r\na\r\n0\r\n\r\n")],
        [CHUNKED, *[b"1\r\n \r\n"] * 60, b"0\r\n\r\n"],
        [
            response(b"x" * 10**6, "Content-Encoding: gzip")[: -(10**6)],
            *trickle(gzip.compress(b"", mtime=0) * 3),
        ],
    ],
    ids=["a header", "headers", "body", "chunk size", "chunks", "gzip"],
)
def test_an_answer_that_trickles_in_is_given_up(
    session: requests.Session, parts: list[bytes]
) -> None:
    with listening(answering(*parts, pause=PAUSE)) as (host, port):
        url = f"http://{host}:{port}/"
        with pytest.raises(requests.RequestException, match=r"timed out|in time"):
            session.post(url, json={}, timeout=TIMEOUT)


def test_silence_is_given_up(session: requests.Session) -> None:
    def handle(connection: socket.socket) -> None:
        while read_request(connection):
            pass

    with listening(handle) as (host, port), pytest.raises(requests.ReadTimeout):
        session.post(f"http://{host}:{port}/", json={}, timeout=TIMEOUT)


@pytest.mark.parametrize("part", [b"", response()[:-1]], ids=len)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_waiting_can_be_ended_from_another_thread(
    session: requests.Session, certificate: Path, scheme: str, part: bytes
) -> None:
    waited_for, ended = Event(), Event()

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(part)
        waited_for.set()
        connection.recv(1)

    def hang_up_until_it_ends(thread: Thread) -> None:
        waited_for.wait(PATIENCE)
        while not ended.wait(0.01):
            hang_up([thread])

    other = Thread(target=hang_up_until_it_ends, args=[current_thread()], daemon=True)
    other.start()
    with listening(handle, certificate if scheme == "https" else None) as (host, port):
        with pytest.raises(requests.RequestException, match=r"aborted|broken"):
            session.post(
                f"{scheme}://{host}:{port}/",
                json={},
                timeout=PATIENCE,
                verify=str(certificate),
            )
        ended.set()
        other.join()


def test_a_wait_that_is_not_ended_gets_the_answer() -> None:
    goes_on = Event()
    waiting: list[socket.socket] = []
    adapter = BoundedAdapter(pool_maxsize=2)
    endings: list[type[requests.RequestException]] = []

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        waiting.append(connection)
        assert goes_on.wait(PATIENCE)
        connection.sendall(response())

    def wait_in_vain() -> None:
        try:
            new_session(adapter).post(url, json={}, timeout=PATIENCE)
        except requests.RequestException as error:
            endings.append(type(error))

    def hang_up_until_it_ends() -> None:
        while unlucky.is_alive() or len(waiting) < 2:
            hang_up([unlucky])
            unlucky.join(0.01)
        goes_on.set()

    unlucky = Thread(target=wait_in_vain, daemon=True)
    with listening(handle) as (host, port):
        url = f"http://{host}:{port}/"
        unlucky.start()
        other = Thread(target=hang_up_until_it_ends, daemon=True)
        other.start()
        answer = new_session(adapter).post(url, json={}, timeout=PATIENCE)
        other.join()
        adapter.close()
    assert answer.content == PAGE
    assert endings == [requests.ConnectionError]
