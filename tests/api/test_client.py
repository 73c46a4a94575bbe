"""One request and its repetitions, on a clock that the tests set."""

from __future__ import annotations

import ssl
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import requests
import urllib3.exceptions as lower

from tap_leadintent.api.limits import RateLimiter, Tally
from tap_leadintent.errors import NoAccessError, StoppedError, StreamError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, VALID, Waiter
from tests.support.reading import read_chain

if TYPE_CHECKING:
    from collections.abc import Iterator

    import requests_mock

    from tests.support.helpers import Clock

    Answer = dict[str, Any]

AGENTS = f"{VALID['base_url']}/v1/signals/agents"
SIGNALS = f"{VALID['base_url']}/v1/monitor/custom-signals"
PAGE = {"data": [{"id": "a"}], "cursor": {"next": "", "has_more": False}}
MORE = {"data": [{"id": "a"}], "cursor": {"next": "c", "has_more": True}}
LOST = requests.exceptions


def failing(error: type[requests.RequestException], reason: Exception) -> Answer:
    """Fail as `requests` does, which wraps urllib3's own error."""
    pool: Any = None
    return {"exc": error(lower.MaxRetryError(pool, "/", reason))}


CONNECTION: Any = "api.example.com:443"
NO_ACCESS = {
    "refused": failing(
        LOST.ConnectionError, lower.NewConnectionError(CONNECTION, "refused")
    ),
    "timeout": failing(LOST.ConnectTimeout, lower.ConnectTimeoutError("too slow")),
    "proxy": failing(LOST.ProxyError, lower.ProxyError("no proxy", OSError())),
    "handshake": failing(LOST.SSLError, lower.SSLError("unexpected end")),
    "certificate": failing(LOST.SSLError, lower.SSLError("CERTIFICATE_VERIFY_FAILED")),
}
"""What would befall every stream of a run."""

PASSING: dict[str, Answer] = {
    **{str(n): {"status_code": n} for n in (408, 429, 500, 502, 503, 504, 520, 599)},
    "html": {"text": "<html>Checking your browser</html>"},
    "empty": {"text": ""},
    "error in 200": {"json": {"error": "later"}},
    "half a page": {"text": '{"data": [{"id": "a"'},
    "reset": {"exc": LOST.ConnectionError(lower.ProtocolError("aborted"))},
    "read timeout": {"exc": LOST.ReadTimeout("too slow")},
    "chunk": {"exc": LOST.ChunkedEncodingError("cut off")},
    "encoding": {"exc": LOST.ContentDecodingError("not gzip")},
}
"""What may befall one stream alone, and pass."""

STATUSES = (201, 204, 304, 400, 401, 402, 403, 404, 405, 409, 410, 415, 422, 501, 505)
REFUSED: dict[str, Answer] = {
    **{str(status): {"status_code": status} for status in STATUSES},
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
    return TapLeadIntent(config={**VALID, **config})


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
    answer: Answer,
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
    requests_mock: requests_mock.Mocker, clock: Clock, answer: Answer
) -> None:
    requests_mock.post(AGENTS, [answer, {"json": PAGE}])
    with pytest.raises(StreamError):
        list(pages(tap()))
    assert requests_mock.call_count == 1
    assert clock.now == 1000


@pytest.mark.parametrize("retries", [0, 3])
def test_tries_are_counted_for_each_request(
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    retries: int,
) -> None:
    down: Answer = {"status_code": 500, "text": "out of order"}
    requests_mock.post(AGENTS, [*[down] * retries, {"json": MORE}, down])
    read = pages(tap(max_retries=retries))
    assert next(read).decode().data == [{"id": "a"}]
    tries = f"{retries + 1} tries" if retries else "1 try"
    problem = f"page 2: gave up after {tries}: HTTP 500: the API failed; .*: out of or"
    with pytest.raises(StreamError, match=problem):
        next(read)
    assert requests_mock.call_count == 2 * (retries + 1)
    assert len(waits(caplog)) == 2 * retries


@pytest.mark.parametrize("answers", [[], [{"json": MORE}]], ids=["first", "later"])
@pytest.mark.parametrize("answer", NO_ACCESS.values(), ids=NO_ACCESS)
def test_no_access_is_told_from_a_failure(
    requests_mock: requests_mock.Mocker, answer: Answer, answers: list[Answer]
) -> None:
    requests_mock.post(AGENTS, [*answers, answer])
    with pytest.raises(NoAccessError, match="^page 2: " if answers else "^(?!page)"):
        list(pages(tap(max_retries=2)))


@pytest.mark.parametrize("answers", [[], [{"json": MORE}]], ids=["first", "later"])
@pytest.mark.parametrize("name", ["500", "reset", "read timeout", "html", "401", "403"])
def test_what_may_befall_one_stream_is_a_failure_of_it_alone(
    requests_mock: requests_mock.Mocker, name: str, answers: list[Answer]
) -> None:
    requests_mock.post(AGENTS, [*answers, {**PASSING, **REFUSED}[name]])
    with pytest.raises(StreamError) as caught:
        list(pages(tap(max_retries=2)))
    assert not isinstance(caught.value, NoAccessError)


@pytest.mark.parametrize(
    ("status", "header", "line"),
    [
        (429, "0.5", "0.5 s (the server asked for 0.5 s)"),
        (
            503,
            "Fri, 02 Jan 2026 00:00:40 GMT",
            "40.0 s (the server asked for 40.0 s)",
        ),
        (
            503,
            "7200",
            "600.0 s (the server asked for 7200.0 s, which is shortened)",
        ),
        (429, "-20", "3.0 s"),
        (503, "", "3.0 s"),
        (500, "20", "3.0 s"),
    ],
)
def test_retry_after_counts_where_the_server_wants_rest(  # noqa: PLR0913, PLR0917
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    clock: Clock,
    status: int,
    header: str,
    line: str,
) -> None:
    headers = {"Date": "Fri, 02 Jan 2026 00:00:00 GMT", "Retry-After": header}
    busy: Answer = {"status_code": status, "headers": headers}
    requests_mock.post(AGENTS, [busy, {"json": PAGE}])
    list(pages(tap()))
    assert clock.now == pytest.approx(1000 + float(line.split(maxsplit=1)[0]))
    (told,) = waits(caplog)
    assert told.startswith(f"signal_agents: HTTP {status}: ")
    assert told.endswith(f"; try 2 of 9 in {line}")


def test_a_rest_begins_before_the_refused_request_leaves_its_place(
    requests_mock: requests_mock.Mocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests_mock.post(AGENTS, [{"status_code": 429}, {"json": PAGE}])
    rests = []

    def rest(limiter: RateLimiter, seconds: float) -> None:
        stopped: Any = Waiter(seconds=1)
        with pytest.raises(StoppedError), limiter.turn(stopped, Tally()):
            """Never entered."""
        rests.append(seconds)

    monkeypatch.setattr(RateLimiter, "rest", rest)
    assert len(list(pages(tap(concurrency=1)))) == 1
    assert len(rests) == 1


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
    busy: Answer = {"status_code": 429, "headers": {"Retry-After": "20"}}
    requests_mock.post(AGENTS, [busy, {"status_code": 500}, {"json": PAGE}])
    stream: Any = tap().streams["signal_agents"]
    assert [record["id"] for record in stream.get_records(None)] == ["a"]
    tally = stream.tally
    assert (tally.records, tally.requests, tally.retries) == (1, 3, 2)
    assert tally.seconds_waited == pytest.approx(20 + 6)
    assert tally.seconds_waited == pytest.approx(clock.now - 1000)


def test_its_repr_does_not_show_the_key() -> None:
    stream: Any = tap().streams["leads"]
    assert API_KEY not in repr(stream.client)
