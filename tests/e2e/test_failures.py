"""What a failed request says, with the real errors of real sockets."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tap_leadintent.api.failures import explain, is_distrust, is_without_connection
from tap_leadintent.api.session import environment
from tap_leadintent.redaction import Secret
from tests.support.helpers import API_KEY, only
from tests.support.servers import (
    CHUNKED,
    answering,
    listening,
    proxying,
    read_request,
    response,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

NOWHERE = "127.0.0.1:9"
"""Port 9 (discard) is none that a test machine serves."""

SECONDS = 0.3
SUPPORT = "if it goes on, ask the API's support"
CHECK_SCHEME = "check whether base_url should begin with https or http"
SLOWER = "raise request_timeout_seconds, or lower page_size or concurrency"


def fail(session: requests.Session, url: str) -> Exception:
    """Ask in vain, as the tap does."""
    with pytest.raises(requests.RequestException) as caught:
        session.post(url, json={}, timeout=SECONDS, **environment(url))
    return caught.value


def told(session: requests.Session, url: str) -> str:
    """Say why, in a line that is fit for everybody."""
    text = explain(fail(session, url), url, SECONDS, Secret(API_KEY))
    assert text.isprintable()
    assert len(text) < 600
    assert API_KEY not in text
    assert not re.search(r" at 0x|Pool|Errno|Error|object|exception|_ssl\.c", text)
    return text


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


ANSWERS: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "silent": (
        stalling(b""),
        f"HOST did not begin to answer within 0.3 s; {SLOWER}",
    ),
    "half a head": (
        stalling(b"HTTP/1.1 2"),
        f"the answer of HOST did not arrive whole within 0.3 s; {SLOWER}",
    ),
    "half a body": (
        stalling(response()[:-1]),
        f"the answer of HOST did not arrive whole within 0.3 s; {SLOWER}",
    ),
    "trickle": (
        answering(*[b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * 40], pause=0.02),
        f"the answer of HOST did not arrive whole within 0.3 s; {SLOWER}",
    ),
    "closed": (
        saying(),
        f"HOST closed the connection without a response; {CHECK_SCHEME}; {SUPPORT}",
    ),
    "cut": (
        saying(response()[:-5]),
        f"HOST broke off its answer; {SUPPORT}, or lower page_size",
    ),
    "no chunk": (
        saying(CHUNKED, b"zz\r\n"),
        f"HOST broke off its answer; {SUPPORT}, or lower page_size",
    ),
    "no gzip": (
        saying(response(b"no gzip", "Content-Encoding: gzip")),
        f"the answer of HOST cannot be decompressed; {SUPPORT}",
    ),
    "no HTTP": (
        saying(b"SSH-2.0-\x1b[2J\x9b\r\n"),
        "HOST does not answer in HTTP (SSH-2.0-\\x1b[2J\\x9b); check base_url",
    ),
    "the key, and no HTTP": (
        saying(f"{API_KEY}{'x' * 60_000}\r\n".encode()),
        f"HOST does not answer in HTTP (***{'x' * 222}…{'x' * 75}); check base_url",
    ),
    "many headers": (
        saying(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000, b"\r\n"),
        "HOST does not answer in HTTP (got more than 100 headers); check base_url",
    ),
    "an alert in TLS": (
        saying(b"\x15\x03\x01\x00\x02\x02\x46\r\n"),
        "HOST speaks TLS; base_url must begin with https://",
    ),
}


@pytest.mark.parametrize(("handle", "text"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_is_none(
    session: requests.Session, handle: Callable[[socket.socket], None], text: str
) -> None:
    with listening(handle) as (host, port):
        said = told(session, f"http://{host}:{port}/v1/x")
        session.close()
    assert said == text.replace("HOST", f"{host}:{port}")


# Connections


def test_refused(session: requests.Session) -> None:
    assert told(session, f"http://{NOWHERE}/") == (
        f"{NOWHERE} refuses connections; check host and port in base_url, and whether "
        "the API is up"
    )


def test_unknown_host(session: requests.Session) -> None:
    said = told(session, "https://no-such-host.invalid/v1")
    assert said.startswith("the host no-such-host.invalid cannot be looked up (")
    assert said.endswith("); check base_url, and this machine's network")


@contextmanager
def deaf() -> Iterator[str]:
    """Listen without taking a connection; give the address."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.settimeout(0)
            client.connect_ex(address)
        yield "{}:{}".format(*address)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_connection_that_is_not_taken(session: requests.Session, scheme: str) -> None:
    with deaf() as host:
        assert told(session, f"{scheme}://{host}/") == (
            f"{host} accepted no connection within 0.3 s; check base_url, this "
            "machine's network, and the firewalls on the way"
        )
        assert is_without_connection(fail(session, f"{scheme}://{host}/"))


# TLS


def test_https_where_http_is_spoken(session: requests.Session) -> None:
    def refuse(connection: socket.socket) -> None:
        connection.recv(1)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with listening(refuse) as (host, port):
        assert told(session, f"https://{host}:{port}/") == (
            f"{host}:{port} does not speak TLS; check the port in base_url, and "
            "whether it should begin with http:// (for this machine only)"
        )


def test_https_where_nobody_answers_it(session: requests.Session) -> None:
    with listening(saying()) as (host, port):
        assert told(session, f"https://{host}:{port}/") == (
            f"{host}:{port} did not finish the TLS handshake within 0.3 s; check that "
            "the port in base_url speaks TLS"
        )


def test_https_that_breaks_off(session: requests.Session) -> None:
    def close(connection: socket.socket) -> None:
        connection.recv(65536)

    with listening(close) as (host, port):
        said = told(session, f"https://{host}:{port}/")
    assert said.startswith(f"the TLS handshake with {host}:{port} failed (unexpected e")
    assert said.endswith("; check base_url, and proxies and firewalls on the way")


def test_http_where_https_is_spoken(
    session: requests.Session, certificate: Path
) -> None:
    with listening(answering(response()), certificate) as (host, port):
        said = told(session, f"http://{host}:{port}/")
    assert (
        "check whether base_url should begin with https or http" in said
        or "speaks TLS" in said
    )


def test_a_stranger(session: requests.Session, certificate: Path) -> None:
    with listening(answering(response()), certificate) as (host, port):
        url = f"https://{host}:{port}/"
        assert is_distrust(fail(session, url))
        assert re.fullmatch(
            rf"the server's certificate is not trusted \({host}:{port}: self.signed "
            r"certificate\); check base_url, or set REQUESTS_CA_BUNDLE if the "
            "certificate is your own",
            told(session, url),
        )


# Proxies

API = "https://api.example.com/v1"
CHECK_PROXY = (
    "check HTTPS_PROXY or ALL_PROXY, with user and password where the proxy wants "
    "them, and NO_PROXY"
)


@pytest.fixture(params=["HTTPS_PROXY", "ALL_PROXY"])
def by_proxy(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    monkeypatch.delenv("NO_PROXY")
    return lambda url: monkeypatch.setenv(request.param, url)


def test_a_dead_proxy(
    session: requests.Session, by_proxy: Callable[[str], None]
) -> None:
    by_proxy(f"http://user:pass-9c@{NOWHERE}/")
    assert told(session, API) == (
        f"the proxy {NOWHERE} does not pass requests on (Connection refused); "
        f"{CHECK_PROXY}"
    )


def test_a_proxy_that_nobody_knows(
    session: requests.Session, by_proxy: Callable[[str], None]
) -> None:
    by_proxy("http://no-such-proxy.invalid:8080")
    assert told(session, API) == (
        "the proxy no-such-proxy.invalid:8080 does not pass requests on (its name is "
        f"not known); {CHECK_PROXY}"
    )


def test_a_proxy_that_refuses(
    session: requests.Session, by_proxy: Callable[[str], None]
) -> None:
    answer = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"
    with listening(saying(answer)) as (host, port):
        by_proxy(f"http://{host}:{port}")
        assert told(session, API) == (
            f"the proxy {host}:{port} does not pass requests on (407 Proxy "
            f"Authentication Required); {CHECK_PROXY}"
        )


def test_a_proxy_that_is_silent(
    session: requests.Session, by_proxy: Callable[[str], None]
) -> None:
    with listening(stalling(b"")) as (host, port):
        by_proxy(f"http://{host}:{port}")
        assert told(session, API) == (
            f"api.example.com (through the proxy {host}:{port}) accepted no "
            "connection within 0.3 s; check base_url, this machine's network, and the "
            "firewalls on the way"
        )


def test_a_proxy_that_speaks_no_tls(
    session: requests.Session, by_proxy: Callable[[str], None]
) -> None:
    def refuse(connection: socket.socket) -> None:
        connection.recv(1)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with listening(refuse) as (host, port):
        by_proxy(f"https://{host}:{port}")
        assert "speak TLS; should its address begin with http://" in told(session, API)


def test_a_server_beyond_a_proxy(
    session: requests.Session, by_proxy: Callable[[str], None], certificate: Path
) -> None:
    with (
        listening(answering(response()), certificate) as (host, port),
        listening(proxying([])) as (proxy, at),
    ):
        by_proxy(f"http://{proxy}:{at}")
        said = told(session, f"https://{host}:{port}/")
    assert f"({host}:{port} (through the proxy {proxy}:{at}): self" in said


@pytest.mark.parametrize(
    "url", ["http://[::1", "foo://secret:1", "http://secret:pass", "http://a secret:1"]
)
def test_an_address_of_no_proxy(
    session: requests.Session, by_proxy: Callable[[str], None], url: str
) -> None:
    by_proxy(url)
    assert told(session, API) == (
        "HTTPS_PROXY or ALL_PROXY is not the address of a proxy; set it to one such as "
        "http://proxy.example.com:8080"
    )


def test_a_socks_proxy(
    session: requests.Session, by_proxy: Callable[[str], None]
) -> None:
    by_proxy(f"socks5://{NOWHERE}")
    assert told(session, API).endswith(": pip install 'requests[socks]'")


# The last line of a run


@pytest.mark.parametrize("retries", [0, 1])
def test_the_last_line_of_a_run(tap: Callable[..., Run], retries: int) -> None:
    config = {"base_url": f"http://{NOWHERE}", "api_key": API_KEY}
    run = tap({**config, "max_retries": retries}, catalog=only("leads"))
    tries = "1 try" if retries == 0 else "2 tries"
    assert f"gave up after {tries}: {NOWHERE} refuses connections; " in run.failed()


def test_a_connect_timeout_shows_no_object(tap: Callable[..., Run]) -> None:
    with deaf() as host:
        config: dict[str, Any] = {"base_url": f"http://{host}", "api_key": API_KEY}
        config |= {"max_retries": 1, "request_timeout_seconds": SECONDS}
        run = tap(config, catalog=only("leads"))
    assert f"{host} accepted no connection within 0.3 s" in run.failed()
    assert " at 0x" not in run.stderr


def test_an_undocumented_filter_is_named(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    del sandbox
    filters = {"leads": {"sort": "\x1b[2J"}, "observations": {"order": 1}}
    line = tap({**config, "filters": filters}, catalog=only("leads")).failed()
    assert "HTTP 400" in line
    assert "does not show filters.leads.sort: check or remove it: " in line
    assert "order" not in line
    assert line.isprintable()
