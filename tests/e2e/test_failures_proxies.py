"""What a failed request through a proxy says, with the errors of real sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.servers import (
    answering,
    listening,
    proxying,
    response,
)
from tests.support.sockets import NOWHERE, saying, stalling, told

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    import requests


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
