"""Whom the tap trusts, and which way its requests go: certificates and proxies."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tap_leadintent.api.session import TrustError, environment
from tests.support.helpers import API_KEY, only
from tests.support.servers import (
    PAUSE,
    answering,
    listening,
    proxying,
    read_request,
    response,
    trickle,
)

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

CONFIG = {"api_key": API_KEY, "max_retries": 0}
TIMEOUT = 0.2


# Trust


@pytest.fixture
def secure(certificate: Path) -> Iterator[dict[str, Any]]:
    """The configuration for a server whose certificate is self-signed."""
    with listening(answering(response()), certificate) as (host, port):
        yield {"api_key": API_KEY, "base_url": f"https://{host}:{port}"}


@pytest.fixture(autouse=True)
def _no_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)


def test_an_unknown_certificate_is_not_trusted(
    tap: Callable[..., Run], secure: dict[str, Any]
) -> None:
    run = tap(secure, catalog=only("custom_signals"))
    line = run.failed()
    assert "custom_signals: the server's certificate is not trusted" in line
    assert "set REQUESTS_CA_BUNDLE" in line
    assert "; try " not in run.stderr
    assert "1 request, 0 retries" in run.stderr


@pytest.mark.parametrize(
    "name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"]
)
def test_a_variable_can_name_a_certificate_to_trust(
    tap: Callable[..., Run],
    secure: dict[str, Any],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setenv(name, str(certificate))
    run = tap(secure, catalog=only("custom_signals")).succeeded()
    assert [record["id"] for record in run.records("custom_signals")] == ["a"]


def test_an_empty_variable_names_no_certificate(
    secure: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "")
    assert environment(secure["base_url"])["verify"] is True


@pytest.mark.parametrize("content", [None, "", "no certificate"])
@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_certificates_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | None
) -> None:
    path = tmp_path / "bundle.pem"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setenv(name, str(path))
    with pytest.raises(TrustError, match=f"^{name} names no .*{path}"):
        environment("https://api.example.com")


def test_certificates_that_are_not_there_end_the_stream_at_once(
    tap: Callable[..., Run], secure: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere.pem")
    run = tap(secure, catalog=only("custom_signals"))
    assert "REQUESTS_CA_BUNDLE names no readable file" in run.failed()
    assert "; try " not in run.stderr


def test_a_folder_of_certificates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path))
    found = environment("https://api.example.com")
    assert found["verify"] == str(tmp_path)


# Proxies


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is asked of the proxy that the environment names."""
    seen: list[str] = []
    with listening(proxying(seen)) as (host, port):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{host}:{port}")
            monkeypatch.setenv(name.lower(), f"http://{host}:{port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield seen


def test_http_goes_past_the_proxy(
    tap: Callable[..., Run], proxied: list[str], sandbox: Sandbox
) -> None:
    """A proxy would read the key, and this machine needs none to reach itself."""
    config = {**CONFIG, "base_url": sandbox.url}
    run = tap(config, catalog=only("custom_signals")).succeeded()
    assert len(run.records("custom_signals")) == 3
    assert proxied == []


def test_no_variable_gives_http_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY")
    assert environment("http://127.0.0.1:8000")["proxies"] == {}
    assert environment("HTTP://localhost")["proxies"] == {}
    assert environment("https://api.example.com")["proxies"]["all"]


def test_https_goes_through_the_proxy(
    tap: Callable[..., Run],
    proxied: list[str],
    secure: dict[str, Any],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    run = tap(secure, catalog=only("custom_signals")).succeeded()
    assert [record["id"] for record in run.records("custom_signals")] == ["a"]
    host = secure["base_url"].removeprefix("https://")
    (line,) = proxied
    assert line.startswith(f"CONNECT {host} HTTP/1.")


def test_no_proxy_goes_past_the_proxy(
    tap: Callable[..., Run],
    proxied: list[str],
    secure: dict[str, Any],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tap(secure, catalog=only("custom_signals")).succeeded()
    assert proxied == []


def test_a_proxy_that_trickles_is_given_up(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY")

    def slow(connection: socket.socket) -> None:
        read_request(connection)
        for part in trickle(b"HTTP/1.1 200 " + b"x" * 200 + b"\r\n\r\n"):
            connection.sendall(part)
            Event().wait(PAUSE)

    with listening(slow) as (host, port):
        proxies = {"https": f"http://{host}:{port}"}
        with pytest.raises(requests.RequestException, match=r"timed out|in time"):
            session.post(
                "https://127.0.0.1:9/", json={}, proxies=proxies, timeout=TIMEOUT
            )


def test_a_proxy_that_is_gone(
    tap: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:pass-9c@127.0.0.1:9")
    config = {**CONFIG, "base_url": "https://api.example.com"}
    run = tap(config, catalog=only("custom_signals"))
    assert "proxy" in run.failed()
    assert "pass-9c" not in run.stderr
