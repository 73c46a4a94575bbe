"""What a failed request says, with the real errors of real sockets."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.api.failures import is_distrust, is_without_connection
from tests.support.helpers import API_KEY, only
from tests.support.servers import answering, listening, proxying, response
from tests.support.sockets import NOWHERE, fail, saying, stalling, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import requests

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

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
        f"the request to HOST failed (***{'x' * 222}…{'x' * 75}); {SUPPORT}",
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


def test_refused(session: requests.Session) -> None:
    assert told(session, f"http://{NOWHERE}/") == (
        f"{NOWHERE} refuses connections; check host and port in base_url, and whether "
        "the API is up"
    )
    assert is_without_connection(fail(session, f"http://{NOWHERE}/"))


def test_unknown_host(session: requests.Session) -> None:
    said = told(session, "https://no-such-host.invalid/v1")
    assert said.startswith("the host no-such-host.invalid cannot be looked up (")
    assert said.endswith("); check base_url, and this machine's network")


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


def test_a_connection_that_is_not_taken(session: requests.Session) -> None:
    with deaf() as host:
        assert told(session, f"https://{host}/") == (
            f"{host} accepted no connection within 0.3 s; check base_url, this "
            "machine's network, and the firewalls on the way"
        )
        assert is_without_connection(fail(session, f"https://{host}/"))


# TLS


def speak_no_tls(connection: socket.socket) -> None:
    connection.recv(1)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_https_where_http_is_spoken(session: requests.Session) -> None:
    with listening(speak_no_tls) as (host, port):
        assert told(session, f"https://{host}:{port}/") == (
            f"{host}:{port} does not speak TLS; check the port in base_url, and "
            "whether it should begin with http:// (for this machine only)"
        )


def test_an_untrusted_certificate(session: requests.Session, certificate: Path) -> None:
    with listening(answering(response()), certificate) as (host, port):
        url = f"https://{host}:{port}/"
        assert is_distrust(fail(session, url))
        said = told(session, url)
    assert said.startswith(f"the server's certificate is not trusted ({host}:{port}: ")
    assert said.endswith(
        " certificate); check base_url, or set REQUESTS_CA_BUNDLE if the certificate "
        "is your own"
    )


# Proxies

API = "https://api.example.com/v1"


@pytest.fixture
def by_proxy(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.delenv("NO_PROXY")
    return lambda url: monkeypatch.setenv("HTTPS_PROXY", url)


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        (f"http://user:pass-9c@{NOWHERE}/", "Connection refused"),
        (None, "Tunnel connection failed: 407 Proxy Authentication Required"),
    ],
    ids=["dead", "refuses"],
)
def test_a_proxy_that_does_not_work(
    session: requests.Session,
    by_proxy: Callable[[str], None],
    proxy: str | None,
    why: str,
) -> None:
    answer = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"
    with listening(saying(answer)) as (host, port):
        by_proxy(proxy or f"http://{host}:{port}")
        assert told(session, API) == (
            f"the proxy {NOWHERE if proxy else f'{host}:{port}'} does not pass "
            f"requests on ({why}); check HTTPS_PROXY or ALL_PROXY, with user and "
            "password where the proxy wants them, and NO_PROXY"
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


# The last line of a run


def test_the_last_line_of_a_run(tap: Callable[..., Run]) -> None:
    config = {"base_url": f"http://{NOWHERE}", "api_key": API_KEY, "max_retries": 1}
    run = tap(config, catalog=only("leads"))
    assert f"gave up after 2 tries: {NOWHERE} refuses connections; " in run.failed()


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
