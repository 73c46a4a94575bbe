"""Connections over real sockets: made in time, and replaced when they were closed."""

from __future__ import annotations

import json
import socket
import struct
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, Any

import pytest
import requests
from urllib3.exceptions import NewConnectionError

from tap_leadintent.api.session import BoundedAdapter, new_session
from tap_leadintent.api.timeout import hang_up
from tests.support.helpers import API_KEY, Clock, only
from tests.support.servers import (
    PAGE,
    PAUSE,
    Counting,
    answering_once,
    listening,
    proxying,
    read_request,
    response,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.helpers import Run

PATIENCE = 60

ERRORS = requests.exceptions


def post(
    session: requests.Session, address: tuple[str, int], **options: Any
) -> requests.Response:
    scheme = "https" if "verify" in options else "http"
    url = f"{scheme}://{address[0]}:{address[1]}/"
    return session.post(url, json={}, **{"timeout": PATIENCE, **options})


# A kept connection that the server has closed


@pytest.fixture(params=["http", "https", "through a proxy"])
def options(request: pytest.FixtureRequest, certificate: Path) -> Iterator[Any]:
    """What to send a request with, by the way that it goes."""
    if request.param == "http":
        yield {}
    elif request.param == "https":
        yield {"verify": str(certificate)}
    else:
        with listening(proxying([])) as (host, port):
            proxies = {"https": f"http://{host}:{port}"}
            yield {"verify": str(certificate), "proxies": proxies}


@pytest.fixture
def without_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY")


@pytest.mark.usefixtures("without_no_proxy")
def test_a_kept_connection_that_the_server_closed_is_replaced(
    session: requests.Session, options: dict[str, Any], certificate: Path
) -> None:
    serve = Counting(answering_once)
    trust = certificate if "verify" in options else None
    with listening(serve, trust) as address:
        contents = [post(session, address, **options).content for _ in range(4)]
    assert contents == [PAGE] * 4
    assert serve.connections == 4


def test_it_is_replaced_once(session: requests.Session) -> None:
    def serve_first(connection: socket.socket) -> None:
        read_request(connection)
        if serve.connections == 1:
            connection.sendall(response())
            read_request(connection)

    serve = Counting(serve_first)
    with listening(serve) as address:
        assert post(session, address).content == PAGE
        with pytest.raises(ERRORS.ConnectionError, match="without response"):
            post(session, address)
    assert serve.connections == 2


def test_a_new_connection_is_not_replaced(session: requests.Session) -> None:
    def hear(connection: socket.socket) -> None:
        read_request(connection)

    serve = Counting(hear)
    with (
        listening(serve) as address,
        pytest.raises(ERRORS.ConnectionError, match="without response"),
    ):
        post(session, address)
    assert serve.connections == 1


def test_an_answer_that_has_begun_is_not_asked_for_again(
    session: requests.Session,
) -> None:
    def cut_the_second(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(response())
        read_request(connection)
        connection.sendall(b"HTTP/1.1 2")

    serve = Counting(cut_the_second)
    with listening(serve) as address:
        assert post(session, address).content == PAGE
        with pytest.raises(ERRORS.ConnectionError):
            post(session, address)
    assert serve.connections == 1


def test_a_reader_whose_wait_was_ended_does_not_ask_again() -> None:
    awaited, ended = Event(), Event()

    def fall_silent(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(response())
        read_request(connection)
        awaited.set()
        connection.recv(1)

    def hang_up_until_it_ends(thread: Thread) -> None:
        awaited.wait(PATIENCE)
        while not ended.wait(0.01):
            hang_up([thread])

    other = Thread(target=hang_up_until_it_ends, args=[current_thread()], daemon=True)
    other.start()
    session, serve = new_session(BoundedAdapter()), Counting(fall_silent)
    with listening(serve) as address, session:
        assert post(session, address).content == PAGE
        with pytest.raises(ERRORS.ConnectionError):
            post(session, address)
        ended.set()
        other.join()
    assert serve.connections == 1


def test_pages_over_such_connections_cost_no_retry(tap: Callable[..., Run]) -> None:
    def serve(connection: socket.socket) -> None:
        request = read_request(connection)
        after = json.loads(request.partition(b"\r\n\r\n")[2])["cursor"].get("after", "")
        cursor = {"next": after + "x", "has_more": len(after) < 6}
        page = {"data": [{"id": str(len(after))}], "cursor": cursor}
        connection.sendall(response(json.dumps(page).encode()))
        read_request(connection)

    with listening(serve) as (host, port):
        config = {"base_url": f"http://{host}:{port}", "api_key": API_KEY}
        run = tap(config, catalog=only("custom_signals")).succeeded()
    assert [record["id"] for record in run.records("custom_signals")] == [*"0123456"]
    assert "; try " not in run.stderr
    assert "7 requests, 0 retries" in run.stderr


# The time that a connection takes


def soon(connect: Callable[[], object]) -> BaseException:
    """Give what a connection ends with, long before a timeout of `PATIENCE`."""
    caught: list[BaseException] = []

    def run() -> None:
        with pytest.raises(requests.RequestException) as info:
            connect()
        caught.append(info.value)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE / 4)
    assert caught, "it still waits"
    return caught[0]


@pytest.fixture
def unanswered() -> Iterator[tuple[str, int]]:
    """The address of a server that accepts no more connections, and refuses none."""
    with socket.socket() as server, socket.socket() as one, socket.socket() as other:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for client in (one, other):
            client.setblocking(False)  # noqa: FBT003
            client.connect_ex(server.getsockname())
        yield server.getsockname()


def resolving(*hosts: str) -> Callable[..., list[Any]]:
    """Look up a name that has several addresses."""
    real = socket.getaddrinfo

    def look_up(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        found = hosts if host == "api.example.com" else [host]
        return [info for one in found for info in real(one, port, *args, **kwargs)]

    return look_up


def test_all_addresses_of_a_host_share_one_timeout(
    session: requests.Session,
    unanswered: tuple[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = ["127.0.0.1"] * 100
    monkeypatch.setattr("socket.getaddrinfo", resolving(*many))
    address = ("api.example.com", unanswered[1])
    error = soon(lambda: post(session, address, timeout=1))
    assert isinstance(error, ERRORS.ConnectTimeout)


def test_an_address_that_refuses_leaves_its_time_to_the_next(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.getaddrinfo", resolving("127.0.0.2", "127.0.0.1"))
    with listening(answering_once) as (_, port):
        assert post(session, ("api.example.com", port)).content == PAGE


def test_a_proxy_leaves_the_rest_of_its_time_to_the_handshake(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY")
    clock = Clock()
    monkeypatch.setattr("tap_leadintent.api.connection.time", clock)

    def take_long_then_say_nothing(connection: socket.socket) -> None:
        read_request(connection)
        clock.now += PATIENCE - 0.1
        connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        while connection.recv(65536):
            pass

    with listening(take_long_then_say_nothing) as (host, port):
        proxies = {"https": f"http://{host}:{port}"}
        address = ("127.0.0.1", 9)
        error = soon(lambda: post(session, address, verify=True, proxies=proxies))
    assert isinstance(error, ERRORS.ConnectTimeout)


def test_a_handshake_that_trickles_in_is_given_up(session: requests.Session) -> None:
    def drip(connection: socket.socket) -> None:
        # A record of TLS that is to have 16 KiB.
        connection.sendall(b"\x16\x03\x03\x40\x00")
        while True:
            connection.sendall(b"\x02")
            Event().wait(PAUSE)

    with listening(drip) as address:
        error = soon(lambda: post(session, address, verify=True, timeout=0.3))
    assert isinstance(error, ERRORS.ConnectTimeout)


def test_a_handshake_that_is_reset_counts_as_no_connection(
    session: requests.Session,
) -> None:
    def reset(connection: socket.socket) -> None:
        connection.recv(1)
        at_once = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        connection.close()

    with listening(reset) as address:
        error: Any = soon(lambda: post(session, address, verify=True))
    assert isinstance(error.args[0].reason, NewConnectionError)
