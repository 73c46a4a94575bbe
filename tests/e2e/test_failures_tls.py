"""What a failed TLS connection says, with the real errors of real sockets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tap_leadintent.api.failures import is_distrust
from tests.support.servers import (
    answering,
    listening,
    response,
)
from tests.support.sockets import fail, saying, told

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    import requests


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


def test_https_without_an_answer(session: requests.Session) -> None:
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


def test_an_untrusted_certificate(session: requests.Session, certificate: Path) -> None:
    with listening(answering(response()), certificate) as (host, port):
        url = f"https://{host}:{port}/"
        assert is_distrust(fail(session, url))
        assert re.fullmatch(
            rf"the server's certificate is not trusted \({host}:{port}: self.signed "
            r"certificate\); check base_url, or set REQUESTS_CA_BUNDLE if the "
            "certificate is your own",
            told(session, url),
        )
