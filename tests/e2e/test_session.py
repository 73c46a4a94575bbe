"""Sending and reading over real sockets: connections, sizes, nonsense."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.api.session import (
    LARGEST_BODY,
    BodyTooLargeError,
    BoundedAdapter,
    new_session,
)
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY
from tests.support.servers import (
    CHUNKED,
    PAGE,
    Counting,
    answering,
    listening,
    read_request,
    response,
)

if TYPE_CHECKING:
    import socket

    import requests
CONFIG = {"api_key": API_KEY, "max_retries": 0}
LONG = PAGE * 3000
"""Longer than what is read at once."""


def post(session: requests.Session, address: tuple[str, int]) -> requests.Response:
    url = "http://{}:{}/".format(*address)
    return session.post(url, json={}, timeout=60, allow_redirects=False)


def chunks(body: bytes, size: int) -> bytes:
    """Write a body in chunks of a size."""
    cut = (body[i : i + size] for i in range(0, len(body), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in cut) + b"0\r\n\r\n"


def test_sessions_of_one_adapter_share_their_connections() -> None:
    serve = Counting(answering(response()))
    adapter = BoundedAdapter(pool_maxsize=2)
    with listening(serve) as address:
        for _ in range(3):
            post(new_session(adapter), address)
        adapter.close()
    assert serve.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        response(LONG),
        CHUNKED + chunks(LONG, len(LONG)),
        response(gzip.compress(LONG), "Content-Encoding: gzip"),
        response(zlib.compress(LONG), "Content-Encoding: deflate"),
        CHUNKED[:-2]
        + b"Content-Encoding: gzip\r\n\r\n"
        + chunks(gzip.compress(LONG), 100),
    ],
    ids=["plain", "chunked", "gzip", "deflate", "chunked gzip"],
)
@pytest.mark.parametrize("cut", [0, 1, 7], ids=["whole", "cut at 1", "cut at 7"])
def test_a_sound_answer_arrives_over_one_connection(
    session: requests.Session, answer: bytes, cut: int
) -> None:
    parts = [answer] if not cut else [answer[:cut], answer[cut:]]
    serve = Counting(answering(*parts))
    with listening(serve) as address:
        contents = {post(session, address).content for _ in range(3)}
        session.close()
    assert contents == {LONG}
    assert serve.connections == 1


# Size


def test_the_bound_is_sane() -> None:
    # A hundred records of several hundred KiB each still fit.
    assert 2**25 <= LARGEST_BODY <= 2**28


@pytest.mark.parametrize("size", [999, 1000, 1001])
@pytest.mark.parametrize("encoding", ["identity", "gzip", "chunked"])
def test_an_answer_is_bounded_in_its_decompressed_size(
    session: requests.Session,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    encoding: str,
) -> None:
    monkeypatch.setattr("tap_leadintent.api.session.LARGEST_BODY", 1000)
    body = b"x" * size
    answers = {
        "identity": response(body),
        "gzip": response(gzip.compress(body), "Content-Encoding: gzip"),
        "chunked": CHUNKED + chunks(body, size),
    }
    with listening(answering(answers[encoding])) as address:
        if size <= 1000:
            assert post(session, address).content == body
        else:
            with pytest.raises(BodyTooLargeError, match="lower page_size"):
                post(session, address)


@pytest.mark.parametrize(
    "answer",
    [
        response(gzip.compress(b"x" * 3 * 10**6), "Content-Encoding: gzip"),
        CHUNKED + b"2\r\nxx\r\n" * 10**5,
    ],
    ids=["bomb", "tiny chunks"],
)
def test_what_is_too_large_takes_no_more_memory(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr("tap_leadintent.api.session.LARGEST_BODY", 10**5)
    with listening(answering(answer)) as address:
        tracemalloc.start()
        try:
            with pytest.raises(BodyTooLargeError):
                post(session, address)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 10**6


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
        response(gzip.compress(PAGE), "Content-Encoding: gzip")[:-5],
        response(b"no gzip", "Content-Encoding: gzip"),
        CHUNKED + b"zz\r\n",
        CHUNKED + b"-1\r\n" + PAGE,
        CHUNKED + b"-5\r\n" + PAGE,
        CHUNKED + b"5\r\nab",
        CHUNKED,
    ],
    ids=[
        *("nothing", "no line", "no HTTP", "no status", "long line", "many headers"),
        *(
            "cut off",
            "cut off gzip",
            "no gzip",
            "no chunk size",
            "to the end",
            "negative",
            "half",
            "no chunk",
        ),
    ],
)
def test_what_is_not_http_is_tried_again(answer: bytes) -> None:
    calls = 0

    def handle(connection: socket.socket) -> None:
        nonlocal calls
        calls += 1
        read_request(connection)
        connection.sendall(response() if calls > 1 else answer)

    with listening(handle) as (host, port), pytest.MonkeyPatch.context() as patch:
        patch.setattr("tap_leadintent.api.client.backoff", lambda _: 0.0)
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
def test_a_redirect_to_an_invalid_address_is_an_answer(
    session: requests.Session, location: str
) -> None:
    answer = response(b"", f"Location: {location}", status="302 Found")
    with listening(answering(answer)) as address:
        assert post(session, address).status_code == 302
