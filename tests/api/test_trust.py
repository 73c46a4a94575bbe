"""Whom the tap trusts, and which way its key goes: certificates, proxies, redirects."""

import ssl
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from socket import socket

import pytest

from tap_leadintent.api.session import new_session
from tests.support.helpers import API_KEY, VALID, RunTap, only
from tests.support.servers import PAGE, listening, read_request, response, serving

CATALOG = only("custom_signals")


@pytest.mark.parametrize("content", ["DER", "", "-----BEGIN CERTIFICATE-----\nMIIB"])
def test_a_file_without_certificates_is_an_error_before_the_first_request(
    monkeypatch: pytest.MonkeyPatch,
    certificate: Path,
    tmp_path: Path,
    tap: RunTap,
    content: str,
) -> None:
    path = tmp_path / "certificates"
    if content == "DER":
        _, begin, authority = certificate.read_text().rpartition("-----BEGIN CERT")
        path.write_bytes(ssl.PEM_cert_to_DER_cert(begin + authority))
    else:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    config = {**VALID, "base_url": "https://127.0.0.1:9"}
    run = tap(config, catalog=CATALOG)
    line = f"SSL_CERT_FILE names {path}, which cannot be loaded; it must be "
    assert line in run.failed()
    assert "; attempt " not in run.stderr


@pytest.mark.parametrize(
    "name",
    ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"],
)
def test_a_variable_can_name_certificates_to_trust(
    monkeypatch: pytest.MonkeyPatch,
    certificate: Path,
    tmp_path: Path,
    name: str,
) -> None:
    for path in (str(tmp_path), str(certificate)):
        monkeypatch.setenv(name, path)
        with new_session("HTTPS://127.0.0.1:9", 1) as session:
            assert session.verify == path


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is asked of the proxy that the environment names, and refuses all."""
    seen: list[str] = []

    def refuse(connection: socket) -> None:
        seen.append(read_request(connection).split(b"\r\n")[0].decode())
        connection.sendall(b"HTTP/1.1 407 Who are you?\r\n\r\n")

    with listening(refuse) as (host, port):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{host}:{port}")
            monkeypatch.setenv(name.lower(), f"http://{host}:{port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield seen


def test_http_does_not_use_the_proxy(tap: RunTap, proxied: list[str]) -> None:
    """A proxy would read the key, and this machine needs none to reach itself."""
    with listening(serving(response())) as (host, port):
        config = {**VALID, "base_url": f"HTTP://{host}:{port}"}
        run = tap(config, catalog=CATALOG).succeeded()
    assert len(run.records("custom_signals")) == 1
    assert proxied == []


def test_a_redirect_is_not_even_read(tap: RunTap) -> None:
    redirect = response(b"", "Location: http://[", status="307 Elsewhere")
    with listening(serving(redirect)) as (host, port):
        config = {**VALID, "base_url": f"http://{host}:{port}"}
        assert "redirects to http://[, perhaps for a login" in tap(config).failed()


def test_response_headers_are_not_logged(tap: RunTap) -> None:
    encoded = b64encode(API_KEY.encode()).decode()
    content = response(PAGE, f"Set-Cookie: a={encoded}", f"no {encoded}")
    with listening(serving(content)) as (host, port):
        config = {**VALID, "base_url": f"http://{host}:{port}"}
        run = tap(config, catalog=CATALOG).succeeded()
    assert len(run.records("custom_signals")) == 1
    assert "Traceback" not in run.stderr
    assert encoded not in run.stderr


@pytest.mark.parametrize("past", ["", "127.0.0.1"])
def test_https_uses_the_proxy_unless_no_proxy_names_the_host(
    tap: RunTap,
    proxied: list[str],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    past: str,
) -> None:
    monkeypatch.setenv("NO_PROXY", past)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with listening(serving(response()), certificate) as (host, port):
        url = f"https://{host}:{port}"
        config = {
            **VALID,
            "base_url": url,
            "max_retries": 0,
        }
        run = tap(config, catalog=CATALOG)
    if past:
        assert len(run.succeeded().records("custom_signals")) == 1
        assert proxied == []
    else:
        assert "(Tunnel connection failed: 407 Who are you?)" in run.failed()
        (line,) = proxied
        assert line.startswith(f"CONNECT {host}:{port} HTTP")
