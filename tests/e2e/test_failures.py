"""What a failed request says, with the real errors of real sockets.

What the sandbox or a command line can bring about is in `test_messages.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import requests

from tap_leadintent.api.failures import explain, is_without_connection
from tap_leadintent.api.session import environment
from tap_leadintent.log import Secret
from tests.support.helpers import API_KEY
from tests.support.servers import listening, read_request, response, unanswered

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    Handle = Callable[[socket.socket], None]

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


def saying(*parts: bytes) -> Handle:
    """Answer a request with these parts, and close."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        for part in parts:
            connection.sendall(part)

    return handle


def stalling(part: bytes) -> Handle:
    """Answer with this part, and wait for the client to go."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(part)
        connection.recv(1)

    return handle


SUPPORT = "if it goes on, ask the API's support"
LATE = (
    "the answer of HOST did not arrive whole within 0.3 s; raise "
    "request_timeout_seconds, or lower page_size or concurrency"
)
CUT = f"HOST broke off its answer; {SUPPORT}, or lower page_size"

ANSWERS: dict[str, tuple[Handle, str]] = {
    "half a body": (stalling(response()[:-1]), LATE),
    "cut": (saying(response()[:-5]), CUT),
    "TLS": (
        saying(b"\x15\x03\x01\x00\x02\x02\x46\r\n"),
        "HOST speaks TLS; base_url must begin with https://",
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


@pytest.mark.parametrize("url", ["http://[::1", "http://user:pass", "socks5://a:1"])
def test_an_address_of_no_proxy(
    session: requests.Session, by_proxy: Callable[[str], None], url: str
) -> None:
    by_proxy(url)
    assert told(session, API) == (
        "HTTPS_PROXY or ALL_PROXY is not the address of a proxy; set it to one such as "
        "http://proxy.example.com:8080"
    )
