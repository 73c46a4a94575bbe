"""One request and its repetitions, on a clock that the tests set."""

from __future__ import annotations

import logging
import ssl
from email.utils import formatdate
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tap_leadintent.errors import StreamError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, EPOCH, Waiter
from tests.support.reading import read_chain

if TYPE_CHECKING:
    from collections.abc import Iterator

    import requests_mock

    from tests.support.helpers import Clock

BASE_URL = "https://api.example.com"
AGENTS = f"{BASE_URL}/v1/signals/agents"
SIGNALS = f"{BASE_URL}/v1/monitor/custom-signals"
PAGE = {"data": [{"id": "a"}], "cursor": {"next": "", "has_more": False}}
MORE = {"data": [{"id": "a"}], "cursor": {"next": "c", "has_more": True}}
LOST = requests.exceptions

PASSING: dict[str, dict[str, Any]] = {
    **{
        str(status): {"status_code": status}
        for status in (408, 429, 500, 502, 503, 504, 520, 599)
    },
    "html": {"text": "<html>Checking your browser</html>"},
    "empty": {"text": ""},
    "error in 200": {"json": {"error": "later"}},
    "half a page": {"text": '{"data": [{"id": "a"'},
    "no cursor": {"json": {"data": []}},
    "connection": {"exc": LOST.ConnectionError("refused")},
    "connect timeout": {"exc": LOST.ConnectTimeout("no answer")},
    "read timeout": {"exc": LOST.ReadTimeout("too slow")},
    "chunk": {"exc": LOST.ChunkedEncodingError("cut off")},
    "encoding": {"exc": LOST.ContentDecodingError("not gzip")},
    "handshake": {"exc": LOST.SSLError("unexpected end")},
}

REFUSED: dict[str, dict[str, Any]] = {
    **{
        str(status): {"status_code": status}
        for status in (201, 204, 304, 400, 401, 402, 403, 404, 405, 409, 410, 415, 422)
    },
    **{str(status): {"status_code": status} for status in (501, 505)},
    **{
        str(status): {"status_code": status, "headers": {"Location": AGENTS}}
        for status in (301, 302, 303, 307, 308)
    },
    "certificate": {"exc": LOST.SSLError(ssl.SSLCertVerificationError(1, "no"))},
}


@pytest.fixture(autouse=True)
def _backoff(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait three seconds for each try that failed."""
    del clock
    monkeypatch.setattr(
        "tap_leadintent.api.client.backoff", lambda attempt: 3.0 * attempt
    )


def tap(**config: Any) -> TapLeadIntent:
    return TapLeadIntent(config={"base_url": BASE_URL, "api_key": API_KEY, **config})


def pages(tap: TapLeadIntent, stream: str = "signal_agents") -> Iterator[Any]:
    return read_chain(tap.streams[stream], Waiter())


def waits(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Give the lines that tell of another try."""
    return [message for message in caplog.messages if "; try " in message]


@pytest.mark.parametrize("answer", PASSING.values(), ids=PASSING)
def test_what_passes_is_tried_again(
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    clock: Clock,
    answer: dict[str, Any],
) -> None:
    requests_mock.post(AGENTS, [answer, answer, {"json": PAGE}])
    (page,) = pages(tap())
    assert page.decode().data == [{"id": "a"}]
    assert clock.now == pytest.approx(1000 + 3 + 6)
    first, second = waits(caplog)
    assert first.startswith("signal_agents: ")
    assert first.endswith("; try 2 of 9 in 3.0 s")
    assert second.endswith("; try 3 of 9 in 6.0 s")


@pytest.mark.parametrize("answer", REFUSED.values(), ids=REFUSED)
def test_what_would_be_refused_again_is_not_tried_again(
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    clock: Clock,
    answer: dict[str, Any],
) -> None:
    requests_mock.post(AGENTS, [answer, {"json": PAGE}])
    with pytest.raises(StreamError):
        list(pages(tap()))
    assert requests_mock.call_count == 1
    assert clock.now == 1000
    assert waits(caplog) == []


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_tries_are_counted_for_each_request(
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    retries: int,
) -> None:
    down: dict[str, Any] = {"status_code": 500, "text": "out of order"}
    requests_mock.post(AGENTS, [*[down] * retries, {"json": MORE}, down])
    read = pages(tap(max_retries=retries))
    assert next(read).decode().data == [{"id": "a"}]
    tries = f"{retries + 1} tries" if retries else "1 try"
    problem = f"page 2: gave up after {tries}: HTTP 500: the API failed; .*: out of or"
    with pytest.raises(StreamError, match=problem):
        next(read)
    assert requests_mock.call_count == 2 * (retries + 1)
    assert len(waits(caplog)) == 2 * retries


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("header", "seconds", "line"),
    [
        ("0.5", 0.5, "in 0.5 s (the server asked for 0.5 s)"),
        (
            "Fri, 02 Jan 2026 00:00:40 GMT",
            40,
            "in 40.0 s (the server asked for 40.0 s)",
        ),
        (
            "7200",
            600,
            "in 600.0 s (the server asked for 7200.0 s, which is shortened)",
        ),
        ("-20", 3, "in 3.0 s"),
        (None, 3, "in 3.0 s"),
    ],
)
def test_retry_after(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    clock: Clock,
    status: int,
    header: str | None,
    seconds: float,
    line: str,
) -> None:
    headers = {"Date": "Fri, 02 Jan 2026 00:00:00 GMT"}
    if header is not None:
        headers["Retry-After"] = header
    busy: dict[str, Any] = {"status_code": status, "headers": headers}
    requests_mock.post(AGENTS, [busy, {"json": PAGE}])
    list(pages(tap()))
    assert clock.now == pytest.approx(1000 + seconds)
    (told,) = waits(caplog)
    assert told.startswith(f"signal_agents: HTTP {status}: ")
    assert told.endswith(f"; try 2 of 9 {line}")


def test_retry_after_counts_only_where_the_server_wants_rest(
    requests_mock: requests_mock.Mocker, clock: Clock
) -> None:
    down: dict[str, Any] = {"status_code": 500, "headers": {"Retry-After": "20"}}
    requests_mock.post(AGENTS, [down, {"json": PAGE}])
    list(pages(tap()))
    assert clock.now == pytest.approx(1003)


def test_the_rest_that_one_stream_is_told_holds_the_others(
    requests_mock: requests_mock.Mocker, clock: Clock
) -> None:
    busy: dict[str, Any] = {"status_code": 429, "headers": {"Retry-After": "20"}}
    requests_mock.post(AGENTS, **busy)
    requests_mock.post(SIGNALS, json=PAGE)
    one_tap = tap(max_retries=0)
    with pytest.raises(StreamError, match="429"):
        list(pages(one_tap))
    list(pages(one_tap, "custom_signals"))
    assert clock.now == pytest.approx(1020)


def test_a_ceiling_is_kept_across_streams_and_tries(
    requests_mock: requests_mock.Mocker, clock: Clock
) -> None:
    times: list[float] = []

    def note(request: Any, _context: Any) -> dict[str, Any]:
        times.append(clock.now)
        return PAGE if "after" in request.json()["cursor"] else MORE

    for url in (AGENTS, SIGNALS):
        requests_mock.post(url, json=note)
    one_tap = tap(max_requests_per_minute=30)
    for stream in ("signal_agents", "custom_signals"):
        assert len(list(pages(one_tap, stream))) == 2
    gaps = [after - before for before, after in pairwise(times)]
    assert len(gaps) == 3
    assert all(2 <= gap < 2.1 for gap in gaps)


def test_what_a_stream_came_to(
    requests_mock: requests_mock.Mocker, clock: Clock
) -> None:
    busy: dict[str, Any] = {"status_code": 429, "headers": {"Retry-After": "20"}}
    requests_mock.post(AGENTS, [busy, {"status_code": 500}, {"json": PAGE}])
    stream: Any = tap().streams["signal_agents"]
    assert [record["id"] for record in stream.get_records(None)] == ["a"]
    tally = stream.tally
    assert (tally.records, tally.requests, tally.retries) == (1, 3, 2)
    assert tally.seconds_waited == pytest.approx(20 + 6)
    assert tally.seconds_waited == pytest.approx(clock.now - 1000)


@pytest.mark.parametrize(
    ("date", "as_of"),
    [
        (formatdate(EPOCH + 1005, usegmt=True), 998),
        (formatdate(EPOCH + 1007, usegmt=True), 1000),
        ("yesterday", 1000),
        (None, 1000),
    ],
)
def test_an_answer_is_complete_up_to_when_its_query_began(
    requests_mock: requests_mock.Mocker, clock: Clock, date: str | None, as_of: int
) -> None:
    def slow(*_: object) -> dict[str, Any]:
        clock.now += 7.5
        return PAGE

    requests_mock.post(AGENTS, json=slow, headers={"Date": date} if date else {})
    (page,) = pages(tap())
    assert page.as_of == EPOCH + as_of


def test_no_request_is_worth_a_line(
    requests_mock: requests_mock.Mocker, caplog: pytest.LogCaptureFixture
) -> None:
    requests_mock.post(AGENTS, [{"json": MORE}, {"json": PAGE}])
    with caplog.at_level(logging.INFO):
        one_tap = tap()
        caplog.clear()
        list(pages(one_tap))
    assert caplog.messages == []


def test_its_repr_does_not_show_the_key() -> None:
    stream: Any = tap().streams["leads"]
    assert API_KEY not in repr(stream.client)
