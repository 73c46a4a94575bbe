"""What a failed request says, with the real errors of real sockets.

What the sandbox or a command line can bring about is in `test_messages.py`.
"""

import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from urllib3.exceptions import HTTPError

from tap_leadintent.api.explanations import (
    Circumstances,
    explain_no_page,
    explain_no_response,
)
from tap_leadintent.api.limits import Limits
from tap_leadintent.api.session import exchange, new_session
from tap_leadintent.errors import StreamError
from tap_leadintent.singer.log import hide
from tests.support.helpers import API_KEY
from tests.support.servers import listening, read_request, response

Handle = Callable[[socket.socket], None]

SECONDS = 0.3
LIMITS = Limits(longest_connect=0.1)

hide(API_KEY)


def fail(
    session: requests.Session,
    url: str,
    seconds: float = SECONDS,
) -> StreamError:
    """Send a request that fails; return the error, whose message is one line."""
    with pytest.raises((requests.RequestException, HTTPError)) as caught:
        exchange(
            session,
            requests.Request("POST", url, json={}),
            seconds,
            LIMITS,
        )
    error = explain_no_response(caught.value, url, seconds)
    text = str(error)
    assert text.isprintable()
    assert len(text) < 600
    assert API_KEY not in text
    assert not re.search(r" at 0x|Pool|Errno|\wError|object|exception|_ssl\.c", text)
    return error


def saying(part: bytes, *, waits: bool = False) -> Handle:
    """Answer with this part, and close, or wait for the client to go."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(part)
        if waits:
            connection.recv(1)

    return handle


SUPPORT = "if this continues, ask the API's support"
LATE = (
    "lower concurrency or page_size, or else raise request_timeout_seconds: the "
    "response of HOST was not complete within 0.3 s (timed out)"
)
CUT = (
    "try later, or lower page_size: HOST ended its response early; "
    f"{SUPPORT} (no reason was given)"
)

FAILURES: dict[str, tuple[Handle, str]] = {
    "half a body": (saying(response()[:-1], waits=True), LATE),
    "cut": (saying(response()[:-5]), CUT),
    "the key, and no HTTP": (
        saying(f"{API_KEY}{'7' * 60_000}\r\n".encode()),
        f"{SUPPORT}: the request to HOST failed (***…)",
    ),
}


@pytest.mark.parametrize(
    ("handle", "text"),
    FAILURES.values(),
    ids=FAILURES,
)
def test_a_response_that_does_not_arrive(
    session: requests.Session,
    handle: Handle,
    text: str,
) -> None:
    with listening(handle) as (host, port):
        error = fail(session, f"http://{host}:{port}/v1/x")
    assert str(error) == text.replace("HOST", f"{host}:{port}")


def test_a_handshake_that_is_not_answered(session: requests.Session) -> None:
    with listening(saying(b"", waits=True)) as (host, port):
        error = fail(session, f"https://{host}:{port}/", seconds=60)
    text = f"{host}:{port} cannot be reached (The handshake operation timed out)"
    assert str(error).endswith(text)


def test_an_untrusted_certificate(session: requests.Session, certificate: Path) -> None:
    with listening(saying(response()), certificate) as (host, port):
        error = fail(session, f"https://{host}:{port}/")
    text = f"the certificate of {host}:{port} is not trusted (certificate verify failed"
    assert text in str(error)


def test_the_host_cannot_show_the_key() -> None:
    url = f"https://{API_KEY}.example.com/v1"
    error = explain_no_response(requests.Timeout(), url, 1)
    assert "the response of ***.example.com was not complete" in str(error)


API = "https://api.example.com/v1"


def test_an_impossible_port(session: requests.Session) -> None:
    error = fail(session, "https://127.0.0.1:65536")
    assert str(error).startswith("check base_url, HTTPS_PROXY and ALL_PROXY: ")


@pytest.mark.parametrize(
    "url",
    ["http://[::1", "http://user:pass", "http://a..b:1", "ftp://a:1", "socks5://a:1"],
)
def test_an_invalid_proxy_address(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTPS_PROXY", url)
    with new_session(API, 1) as session:
        error = fail(session, API)
    problem = "a SOCKS proxy is set" if "socks" in url else "there is no such address"
    assert problem in str(error)


BEGIN = Circumstances()


def refuse(
    status: int,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    problem: str = "",
    circumstances: Circumstances = BEGIN,
) -> StreamError:
    response = requests.Response()
    response.status_code = status
    response.reason = "Nope"
    response.headers.update(headers or {})
    return explain_no_page(
        response,
        body,
        0,
        sent={},
        problem=problem,
        circumstances=circumstances,
    )


PRIVATE = "Ostrów"
LEAD = f'{{"id": "a", "title": "{PRIVATE}", "message": "{PRIVATE}"}}'
BODIES: dict[str, str] = {
    # A long body is not searched to its end.
    '{"error":\n "no"' + " " * 2**20 + f', "x": "{PRIVATE}"}}': "1,048,608 bytes",
    '{"error": {"code": "quota", "message": "all used"}}': '"quota", "all used"',
    f'{{"errors": [{{"detail": "is no time", "input": "{PRIVATE}"}}]}}': '"is no time"',
    '{"title": "Forbidden", "status": 403, "detail": "no"}': '"Forbidden", "no"',
    f'{{"data": [{LEAD}], "x": 1}}': "73 bytes of JSON with the fields data, x",
    f"[{LEAD}]": "55 bytes of JSON",
    f"not for {PRIVATE}": "15 bytes",
    "": "",
}


@pytest.mark.parametrize(
    ("body", "words"),
    BODIES.items(),
    ids=range(len(BODIES)),
)
@pytest.mark.parametrize("status", [200, 302, 410, 500])
def test_of_a_body_only_what_explains_an_error_is_shown(
    status: int,
    body: str,
    words: str,
) -> None:
    problem = "no data" if status == 200 else ""
    error = refuse(
        status,
        body.encode(),
        problem=problem,
    )
    ends = [
        f"HTTP {status} Nope",
        *["no data"] * bool(problem),
        *[words] * bool(words),
    ]
    assert str(error).endswith(f"({': '.join(ends)})")
    assert PRIVATE not in str(error)


def test_a_redirect_shows_where_it_leads() -> None:
    location = {"Location": "https://user:pass@login.example.com/in?token=t#f"}
    text = "this address redirects to https://login.example.com/in, perhaps for a login"
    assert text in str(refuse(302, b"", location))


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}"])
@pytest.mark.parametrize("is_alone", [True, False])
def test_an_endpoint_that_has_answered_is_never_to_be_deselected(
    body: bytes,
    *,
    is_alone: bool,
) -> None:
    circumstances = Circumstances(
        has_succeeded=True,
        has_answered=True,
        is_alone=is_alone,
    )
    for status in range(200, 600):
        error = refuse(status, body, circumstances=circumstances)
        assert "deselect" not in error.message


SERVERS: dict[str, tuple[dict[str, str], str]] = {
    "server": ({"Server": "nginx/1.22.1"}, ", Server nginx/1.22.1"),
    "both": (
        {"Server": "Varnish", "Via": "1.1 varnish (Varnish/7.1)"},
        ", Server Varnish, Via 1.1 varnish (Varnish/7.1)",
    ),
    "the key, in another encoding": ({"Server": API_KEY.encode().hex()}, ", Server …"),
    "the key": ({"Via": f"1.1 {API_KEY}"}, ", Via 1.1 ***"),
    "a page of it": ({"Server": "a b " * 99}, f", Server {'a b ' * 15}…"),
    "control characters": ({"Server": "a\x1b[2J"}, r", Server a\x1b[2J"),
    "none": ({"Server": ""}, ""),
}


@pytest.mark.parametrize(
    ("headers", "text"),
    SERVERS.values(),
    ids=SERVERS,
)
def test_the_server_that_has_answered_is_named(
    headers: dict[str, str],
    text: str,
) -> None:
    assert refuse(403, b"", headers).detail == f"HTTP 403 Nope{text}"
