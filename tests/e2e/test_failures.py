"""What a failed request says, with the real errors of real sockets."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.api.failures import is_without_connection
from tests.support.helpers import API_KEY, only
from tests.support.servers import (
    CHUNKED,
    answering,
    listening,
    response,
)
from tests.support.sockets import NOWHERE, SECONDS, fail, saying, stalling, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import requests

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run
SUPPORT = "if it goes on, ask the API's support"
CHECK_SCHEME = "check whether base_url should begin with https or http"
SLOWER = "raise request_timeout_seconds, or lower page_size or concurrency"


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
def test_an_answer_that_does_not_arrive(
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
