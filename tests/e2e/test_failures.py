"""What a failed request says, with the real errors of real sockets.

What the sandbox or a command line can bring about is in `test_messages.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tap_leadintent.api.failures import is_without_connection
from tests.support.helpers import API_KEY
from tests.support.servers import answering, listening, proxying, response
from tests.support.sockets import fail, saying, stalling, told, unanswered

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    import requests

    Handle = Callable[[socket.socket], None]

SUPPORT = "if it goes on, ask the API's support"
LATE = (
    "the answer of HOST did not arrive whole within 0.3 s; raise "
    "request_timeout_seconds, or lower page_size or concurrency"
)
CUT = f"HOST broke off its answer; {SUPPORT}, or lower page_size"

INFLATING = "decompressing data: incorrect header check"

ANSWERS: dict[str, tuple[Handle, str]] = {
    "silent": (stalling(b""), LATE),
    "half a body": (stalling(response()[:-1]), LATE),
    "closed": (saying(), CUT),
    "cut": (saying(response()[:-5]), CUT),
    "TLS": (
        saying(b"\x15\x03\x01\x00\x02\x02\x46\r\n"),
        "HOST speaks TLS; base_url must begin with https://",
    ),
    "no gzip": (
        saying(response(b"no gzip", "Content-Encoding: gzip")),
        f"the request to HOST failed (Error -3 while {INFLATING}); {SUPPORT}",
    ),
    "no HTTP": (
        saying(b"SSH-2.0-\x1b[2J\x9b\r\n"),
        f"the request to HOST failed (SSH-2.0-\\x1b[2J\\x9b); {SUPPORT}",
    ),
    "the key, and no HTTP": (
        saying(f"{API_KEY}{'x' * 60_000}\r\n".encode()),
        f"the request to HOST failed (***…); {SUPPORT}",
    ),
}


@pytest.mark.parametrize(("handle", "text"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_does_not_arrive(
    session: requests.Session, handle: Handle, text: str
) -> None:
    with listening(handle) as (host, port):
        url = f"http://{host}:{port}/v1/x"
        assert told(session, url) == text.replace("HOST", f"{host}:{port}")
        assert not is_without_connection(fail(session, url))


# Connections


def test_a_network_that_is_down(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr("socket.socket.connect", connect)
    assert told(session, "http://127.0.0.1:9/") == (
        "127.0.0.1:9 cannot be reached (Network is unreachable); check base_url, and "
        "this machine's network"
    )


def test_a_connection_that_is_not_taken(session: requests.Session) -> None:
    with unanswered() as host:
        assert told(session, f"https://{host}/") == (
            f"{host} accepted no connection within 0.3 s; check base_url, this "
            "machine's network, and the firewalls on the way"
        )
        assert is_without_connection(fail(session, f"https://{host}/"))


# Proxies

API = "https://api.example.com/v1"


@pytest.fixture
def by_proxy(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.delenv("NO_PROXY")
    return lambda url: monkeypatch.setenv("HTTPS_PROXY", url)


def test_a_proxy_that_refuses(
    session: requests.Session, by_proxy: Callable[[str], None]
) -> None:
    answer = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"
    with listening(saying(answer)) as (host, port):
        by_proxy(f"http://user:pass-9c@{host}:{port}")
        assert told(session, API) == (
            f"the proxy {host}:{port} does not pass requests on (Tunnel connection "
            "failed: 407 Proxy Authentication Required); check HTTPS_PROXY or "
            "ALL_PROXY, with user and password where the proxy wants them, and NO_PROXY"
        )
        assert is_without_connection(fail(session, API))


def test_a_server_beyond_a_proxy(
    session: requests.Session, by_proxy: Callable[[str], None], certificate: Path
) -> None:
    with (
        listening(answering(response()), certificate) as (host, port),
        listening(proxying([])) as (proxy, at),
    ):
        by_proxy(f"http://{proxy}:{at}")
        said = told(session, f"https://{host}:{port}/")
    assert f"({host}:{port} (through the proxy {proxy}:{at}): " in said


@pytest.mark.parametrize("url", ["http://[::1", "http://user:pass", "socks5://a:1"])
def test_an_address_of_no_proxy(
    session: requests.Session, by_proxy: Callable[[str], None], url: str
) -> None:
    by_proxy(url)
    assert told(session, API) == (
        "HTTPS_PROXY or ALL_PROXY is not the address of a proxy; set it to one such as "
        "http://proxy.example.com:8080"
    )
