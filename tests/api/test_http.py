"""One request and its retries, on a clock that the tests set."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from math import inf
from threading import Event
from typing import Any
from unittest import mock

import pytest
import requests
import requests_mock
import time_machine

from tap_leadintent.api.chain import Chain
from tap_leadintent.errors import Action, StoppedError, StreamError
from tap_leadintent.progress import StreamStats
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, VALID, Clock, Json, lines_with

Tap = Callable[..., TapLeadIntent]

AGENTS = f"{VALID['base_url']}/v1/signals/agents"
SIGNALS = f"{VALID['base_url']}/v1/monitor/custom-signals"
PAGE = {
    "data": [{"id": "a"}],
    "cursor": {"next": "", "has_more": False},
}
MORE = {
    "data": [{"id": "a"}],
    "cursor": {"next": "c", "has_more": True},
}


@pytest.fixture
def tap(clock: Clock) -> Callable[..., TapLeadIntent]:
    """Return a function that returns the tap with some settings."""

    class PatientTap(TapLeadIntent):
        limits = clock.limits

    return lambda **config: PatientTap(config={**VALID, **config})


def pages(tap: TapLeadIntent, stream: str = "signal_agents") -> Iterator[Any]:
    """Read all records of a stream in this thread, page by page."""
    read: Any = tap.streams[stream]
    chain = Chain(read.client, {})
    has_more = True
    while has_more:
        page = chain.fetch(Event(), inf)
        yield page
        has_more = page.has_more


def waits(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the lines that announce a retry."""
    return lines_with("; attempt ", caplog.messages)


def test_temporary_failures_are_retried(
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    clock: Clock,
    tap: Tap,
) -> None:
    late: Json = {"exc": requests.ReadTimeout("too slow")}
    requests_mock.post(AGENTS, [late, late, {"json": PAGE}])
    (page,) = pages(tap())
    assert page.decode().records == [{"id": "a"}]
    attempts = []
    seconds = []
    for line in waits(caplog):
        assert line.startswith("signal_agents: ")
        found = re.search(r"; attempt (\d) of 9 in (\d\.\d) s$", line)
        assert found
        attempts.append(found[1])
        seconds.append(float(found[2]))
    assert attempts == ["2", "3"]
    assert clock.now == pytest.approx(1000 + sum(seconds), abs=0.11)
    assert seconds[0] <= 2
    assert seconds[1] <= 4


def test_retries_are_counted_for_each_request(
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    tap: Tap,
) -> None:
    down: Json = {"status_code": 500, "text": "out of order"}
    requests_mock.post(
        AGENTS,
        [
            *[down] * 3,
            {"json": MORE},
            down,
        ],
    )
    read = pages(tap(max_retries=3))
    assert next(read).decode().records == [{"id": "a"}]
    problem = r"\(page 2: gave up after 4 attempts: HTTP 500: 12 bytes\)$"
    with pytest.raises(StreamError, match=problem):
        next(read)
    assert requests_mock.call_count == 2 * 4
    # The reason is said once. Its later attempts are counted, seldom.
    first, later = [r.getMessage() for r in caplog.records if "attempt " in r.msg]
    assert first.partition(": ")[2].startswith("try later")
    assert not later.partition(": ")[2].startswith("try later")


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [
        (429, "0.4", 0.4),
        (502, "900", 900),
        (503, "7", 7),
        (500, "20", 20),
    ],
)
def test_the_server_says_how_long_to_wait(  # noqa: PLR0913, PLR0917 - fixtures
    requests_mock: requests_mock.Mocker,
    caplog: pytest.LogCaptureFixture,
    status: int,
    header: str,
    seconds: float,
    tap: Tap,
) -> None:
    busy: Json = {
        "status_code": status,
        "headers": {"Retry-After": header},
    }
    requests_mock.post(AGENTS, [busy, {"json": PAGE}])
    one_tap = tap()
    list(pages(one_tap))
    stats = one_tap.streams["signal_agents"].stats
    assert stats.requests == 2
    assert stats.retries == 1
    # Many servers round down.
    seconds += min(1, seconds / 10)
    assert stats.waited_seconds == pytest.approx(seconds)
    (line,) = waits(caplog)
    assert f"(HTTP {status})" in line
    # A rate limit is waited out, however often that is.
    number = "attempt 2" if status == 429 else "attempt 2 of 9"
    assert line.endswith(f"; {number} in {seconds:.1f} s")


BUSY = {"status_code": 429}


def windowed(
    clock: Clock,
    pages: int,
    seconds: float,
    opens: float,
) -> Any:
    """Return what answers so many requests in so many seconds, from a time on."""
    answered = list[float]()

    def answer(request: Any, context: Any) -> Json:
        now = clock.now - 1000 - opens
        clock.now += 0.1
        window = now // seconds
        if now < 0 or answered.count(window) >= pages:
            context.status_code = 429
            return {}
        answered.append(window)
        after = int(request.json()["cursor"].get("after", 0)) + 1
        return {
            "data": [{"id": f"{after}"}],
            "cursor": {"next": f"{after}", "has_more": after < 300},
        }

    return answer


@pytest.mark.parametrize("max_retries", [0, 8])
def test_a_rate_limit_without_a_hint_is_waited_out(
    requests_mock: requests_mock.Mocker,
    clock: Clock,
    tap: Tap,
    max_retries: int,
) -> None:
    """Before the first page and in mid-run, whatever `max_retries` is."""
    requests_mock.post(AGENTS, json=windowed(clock, 60, 300, opens=200))
    assert len(list(pages(tap(max_retries=max_retries)))) == 300


def test_a_rate_limit_that_never_opens_ends_after_a_quarter_of_an_hour(
    requests_mock: requests_mock.Mocker,
    clock: Clock,
    tap: Tap,
) -> None:
    requests_mock.post(AGENTS, [{"json": MORE}, BUSY])
    with pytest.raises(StreamError, match=r"gave up after \d+ attempts: HTTP 429"):
        list(pages(tap()))
    assert 900 <= clock.now - 1000 <= 960
    assert requests_mock.call_count <= 60


def test_what_comes_too_early_is_tried_again_without_retries(
    requests_mock: requests_mock.Mocker,
    tap: Tap,
) -> None:
    """Some limits refuse with 503, as an API that is down does."""
    early: Json = {"status_code": 503}
    requests_mock.post(
        AGENTS,
        [
            {"json": MORE},
            *[early] * 3,
            {"json": PAGE},
        ],
    )
    assert len(list(pages(tap(max_retries=0)))) == 2
    requests_mock.post(
        AGENTS,
        [
            {"json": MORE},
            *[early] * 4,
            {"json": PAGE},
        ],
    )
    with pytest.raises(StreamError, match="gave up after 4 attempts: HTTP 503"):
        list(pages(tap(max_retries=0)))


@time_machine.travel(1_770_000_000, tick=False)
def test_a_wait_of_hours_ends_the_run(
    requests_mock: requests_mock.Mocker,
    clock: Clock,
    tap: Tap,
) -> None:
    quota: Json = {
        "status_code": 429,
        "headers": {"Retry-After": "21600"},
    }
    requests_mock.post(AGENTS, [quota, {"json": PAGE}])
    text = "^run the tap after 2026-02-02T08:40:00Z: the API wants no request until"
    with pytest.raises(StreamError, match=text) as e:
        list(pages(tap()))
    assert Action.END_RUN in e.value.actions
    assert requests_mock.call_count == 1
    assert clock.now == 1000


def test_204_is_an_empty_page_at_the_begin_of_a_chain_only(
    requests_mock: requests_mock.Mocker,
    tap: Tap,
) -> None:
    empty: Json = {"status_code": 204}
    requests_mock.post(AGENTS, [empty, {"json": MORE}, empty])
    (page,) = pages(tap())
    assert page.raw == []
    with pytest.raises(StreamError, match=r"not a page of records \(page 2: .* 204"):
        list(pages(tap(max_retries=0)))


def test_a_cool_down_begins_before_another_request_is_sent(
    requests_mock: requests_mock.Mocker,
    tap: Tap,
    clock: Clock,
) -> None:
    requests_mock.post(AGENTS, [{"status_code": 429}, {"json": PAGE}])
    one_tap = tap(concurrency=1)
    pauses = []
    traffic = one_tap.streams["signal_agents"].run_context.traffic

    def note_refusal(
        _error: StreamError,
        _attempt: int,
        _sent_at: float,
    ) -> float:
        stopped = clock.event(seconds=1)
        with pytest.raises(StoppedError), traffic.turn(stopped, StreamStats()):
            """Never entered."""
        pauses.append(1.0)
        return 1.0

    with mock.patch.object(traffic, "note_refusal", note_refusal):
        assert len(list(pages(one_tap))) == 1
    assert len(pauses) == 1


def test_the_rate_limit_holds_across_streams_and_retries(
    requests_mock: requests_mock.Mocker,
    clock: Clock,
    tap: Tap,
) -> None:
    times: list[float] = []

    def note(request: Any, _context: Any) -> Json:
        times.append(clock.now)
        return PAGE if "after" in request.json()["cursor"] else MORE

    for url in (AGENTS, SIGNALS):
        requests_mock.post(url, json=note)
    one_tap = tap(max_requests_per_minute=30)
    for stream in ("signal_agents", "custom_signals"):
        assert len(list(pages(one_tap, stream))) == 2
    gaps = [after - before for before, after in pairwise(times)]
    assert len(gaps) == 3
    for gap in gaps:
        assert 2 <= gap < 2.1


@pytest.mark.parametrize(
    ("others", "risen"),
    [
        (2, 0),
        (3, 1),
    ],
)
def test_a_page_raises_how_many_requests_may_be_sent_if_so_many_are(
    requests_mock: requests_mock.Mocker,
    tap: Tap,
    others: int,
    risen: int,
) -> None:
    requests_mock.post(AGENTS, json=PAGE)
    one_tap = tap()
    traffic = one_tap.streams["signal_agents"].run_context.traffic
    assert len(list(pages(one_tap))) == 1
    before = traffic.at_once()
    with ExitStack() as under_way:
        for _ in range(others):
            under_way.enter_context(traffic.turn(Event(), StreamStats()))
        for _ in range(4):
            assert len(list(pages(one_tap))) == 1
    assert traffic.at_once() == before + risen


def test_its_repr_does_not_show_the_key(tap: Tap) -> None:
    stream: Any = tap().streams["leads"]
    assert API_KEY not in repr(stream.client)
