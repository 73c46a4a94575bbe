"""Sending and reading over real sockets: bounds, trust, proxies."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tap_leadintent import transport
from tap_leadintent.tap import TapLeadIntent

from .helpers import API_KEY, only
from .servers import (
    PAGE,
    answering,
    bytewise,
    listening,
    make_certificate,
    proxying,
    read_request,
    response,
)

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .helpers import Run

CONFIG = {"api_key": API_KEY, "max_retries": 0}
CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
# Far slower than the timeout as a whole, never slow from one byte to the next.
PAUSE, TIMEOUT, PATIENCE = 0.02, 0.2, 60


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with transport.new_session(transport.BoundedAdapter()) as session:
        yield session


def post(session: requests.Session, address: tuple[str, int]) -> requests.Response:
    url = "http://{}:{}/".format(*address)
    return session.post(url, json={}, timeout=5, allow_redirects=False)


# Time


def trickle(content: bytes) -> list[bytes]:
    """Cut into enough parts to outlast the timeout."""
    parts = list(bytewise(content))
    return [*parts[:60], b"".join(parts[60:])]


@pytest.mark.parametrize(
    "parts",
    [
        trickle(response(b"x", f"X-Long: {'x' * 60}")),
        [b"HTTP/1.1 200 OK\r\n", *[b"X-More: 1\r\n"] * 60, b"\r\n"],
        [response(PAGE)[: -len(PAGE)], *bytewise(PAGE)],
        [CHUNKED.encode(), *trickle(b"1;" + b"x" * 60 + b"\r\na\r\n0\r\n\r\n")],
        [CHUNKED.encode(), *[b"1\r\n \r\n"] * 60, b"0\r\n\r\n"],
        [
            response(b"x" * 10**6, "Content-Encoding: gzip")[: -(10**6)],
            *trickle(gzip.compress(b"", mtime=0) * 3),
        ],
    ],
    ids=["a header", "headers", "body", "chunk size", "chunks", "gzip"],
)
def test_an_answer_that_trickles_in_is_given_up(
    session: requests.Session, parts: list[bytes]
) -> None:
    with listening(answering(*parts, pause=PAUSE)) as (host, port):
        url = f"http://{host}:{port}/"
        with pytest.raises(requests.RequestException, match=r"timed out|in time"):
            session.post(url, json={}, timeout=TIMEOUT)


def test_silence_is_given_up(session: requests.Session) -> None:
    def handle(connection: socket.socket) -> None:
        while read_request(connection):
            pass

    with listening(handle) as (host, port), pytest.raises(requests.ReadTimeout):
        session.post(f"http://{host}:{port}/", json={}, timeout=TIMEOUT)


@pytest.mark.parametrize("part", [b"", response()[:-1]], ids=len)
def test_waiting_can_be_ended_from_another_thread(
    session: requests.Session, part: bytes
) -> None:
    waited_for, ended = Event(), Event()

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(part)
        waited_for.set()
        connection.recv(1)

    def hang_up_until_it_ends() -> None:
        waited_for.wait(PATIENCE)
        while not ended.wait(0.01):
            transport.hang_up()

    other = Thread(target=hang_up_until_it_ends, daemon=True)
    other.start()
    with listening(handle) as (host, port):
        url = f"http://{host}:{port}/"
        with pytest.raises(requests.RequestException, match=r"aborted|broken"):
            session.post(url, json={}, timeout=PATIENCE)
        ended.set()
        other.join()


def test_sessions_of_one_adapter_share_their_connections() -> None:
    connections = 0
    serve = answering(response())

    def handle(connection: socket.socket) -> None:
        nonlocal connections
        connections += 1
        serve(connection)

    adapter = transport.BoundedAdapter(pool_maxsize=2)
    with listening(handle) as address:
        for _ in range(3):
            post(transport.new_session(adapter), address)
        adapter.close()
    assert connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        response(),
        CHUNKED.encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE),
        response(gzip.compress(PAGE), "Content-Encoding: gzip"),
        response(zlib.compress(PAGE), "Content-Encoding: deflate"),
    ],
    ids=["plain", "chunked", "gzip", "deflate"],
)
@pytest.mark.parametrize("cut", [0, 1, 7], ids=["whole", "cut at 1", "cut at 7"])
def test_a_sound_answer_arrives_over_one_connection(
    session: requests.Session, answer: bytes, cut: int
) -> None:
    parts = [answer] if not cut else [answer[:cut], answer[cut:]]
    connections = 0
    serve = answering(*parts)

    def handle(connection: socket.socket) -> None:
        nonlocal connections
        connections += 1
        serve(connection)

    with listening(handle) as address:
        contents = {post(session, address).content for _ in range(3)}
        session.close()
    assert contents == {PAGE}
    assert connections == 1


# Size


def test_the_bound_is_sane() -> None:
    # A hundred records of several hundred KiB each still fit.
    assert 2**25 <= transport.LARGEST_BODY <= 2**28


@pytest.mark.parametrize("size", [999, 1000, 1001])
@pytest.mark.parametrize("encoding", ["identity", "gzip", "chunked"])
def test_an_answer_is_bounded_in_its_decompressed_size(
    session: requests.Session,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    encoding: str,
) -> None:
    monkeypatch.setattr(transport, "LARGEST_BODY", 1000)
    body = b"x" * size
    answers = {
        "identity": response(body),
        "gzip": response(gzip.compress(body), "Content-Encoding: gzip"),
        "chunked": CHUNKED.encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (size, body),
    }
    with listening(answering(answers[encoding])) as address:
        if size <= 1000:
            assert post(session, address).content == body
        else:
            with pytest.raises(transport.BodyTooLargeError, match="lower page_size"):
                post(session, address)


def test_a_bomb_is_not_inflated_whole(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LARGEST_BODY", 10**6)
    bomb = gzip.compress(b"x" * 3 * 10**7)
    with listening(answering(response(bomb, "Content-Encoding: gzip"))) as address:
        tracemalloc.start()
        try:
            with pytest.raises(transport.BodyTooLargeError):
                post(session, address)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 10**7


# Nonsense


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
        response()[:-5],
        response(b"no gzip", "Content-Encoding: gzip"),
        CHUNKED.encode() + b"zz\r\n",
        CHUNKED.encode() + b"5\r\nab",
        CHUNKED.encode(),
    ],
    ids=[
        *("nothing", "no line", "no HTTP", "no status", "long line", "many headers"),
        *("cut off", "no gzip", "no chunk size", "half a chunk", "no chunk"),
    ],
)
def test_what_is_no_http_is_worth_another_try(answer: bytes) -> None:
    calls = 0

    def handle(connection: socket.socket) -> None:
        nonlocal calls
        calls += 1
        read_request(connection)
        connection.sendall(response() if calls > 1 else answer)

    with listening(handle) as (host, port), pytest.MonkeyPatch.context() as patch:
        patch.setattr("tap_leadintent.sending.backoff", lambda _: 0.0)
        # One try more, as the server may have closed the connection that is kept.
        config = {**CONFIG, "base_url": f"http://{host}:{port}", "max_retries": 2}
        stream: Any = TapLeadIntent(config=config).streams["custom_signals"]
        assert [record["id"] for record in stream.get_records(None)] == ["a"]
    assert calls == 2


@pytest.mark.parametrize(
    "location",
    ["http://[::1", "http://a:port/", "///", "http://\xff\xfe/", "mailto:x", "\x01"],
    ids=repr,
)
def test_a_redirect_to_nowhere_is_an_answer_like_any(
    session: requests.Session, location: str
) -> None:
    answer = response(b"", f"Location: {location}", status="302 Found")
    with listening(answering(answer)) as address:
        assert post(session, address).status_code == 302


# Trust


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def secure(certificate: Path) -> Iterator[dict[str, Any]]:
    """The configuration for a server that nobody vouches for."""
    with listening(answering(response()), certificate) as (host, port):
        yield {"api_key": API_KEY, "base_url": f"https://{host}:{port}"}


@pytest.fixture(autouse=True)
def _no_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)


def test_a_stranger_is_not_trusted(
    tap: Callable[..., Run], secure: dict[str, Any]
) -> None:
    run = tap(secure, catalog=only("custom_signals"))
    line = run.failed()
    assert "custom_signals: page 1: the server's certificate is not trusted" in line
    assert "set REQUESTS_CA_BUNDLE" in line
    assert "; try " not in run.stderr
    assert "1 requests, 0 retries" in run.stderr


@pytest.mark.parametrize(
    "name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"]
)
def test_a_stranger_can_be_introduced(
    tap: Callable[..., Run],
    secure: dict[str, Any],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setenv(name, str(certificate))
    run = tap(secure, catalog=only("custom_signals")).succeeded()
    assert [record["id"] for record in run.records("custom_signals")] == ["a"]


def test_an_empty_variable_introduces_nobody(
    secure: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "")
    assert transport.environment(secure["base_url"])["verify"] is True


@pytest.mark.parametrize("content", [None, "", "no certificate"])
@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_certificates_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | None
) -> None:
    path = tmp_path / "bundle.pem"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setenv(name, str(path))
    with pytest.raises(transport.TrustError, match=f"^{name} names no .*{path}"):
        transport.environment("https://api.example.com")


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
    found = transport.environment("https://api.example.com")
    assert found["verify"] == str(tmp_path)


# Proxies


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is asked of the proxy that the environment names."""
    seen: list[str] = []
    with listening(proxying(seen)) as (host, port):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://{host}:{port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield seen


def test_http_goes_through_the_proxy(
    tap: Callable[..., Run], proxied: list[str]
) -> None:
    # Port 9 (discard) is none that a test machine serves.
    config = {**CONFIG, "base_url": "http://127.0.0.1:9"}
    run = tap(config, catalog=only("custom_signals")).succeeded()
    assert [record["id"] for record in run.records("custom_signals")] == ["a"]
    assert proxied == ["POST http://127.0.0.1:9/v1/monitor/custom-signals HTTP/1.1"]


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
    tap: Callable[..., Run], proxied: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with listening(answering(response())) as (host, port):
        config = {**CONFIG, "base_url": f"http://{host}:{port}"}
        tap(config, catalog=only("custom_signals")).succeeded()
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
