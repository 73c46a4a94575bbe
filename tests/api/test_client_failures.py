"""Which failures end one stream, and which the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
import urllib3.exceptions as lower

from tap_leadintent.api.limits import RateLimiter, Tally
from tap_leadintent.errors import NoAccessError, RefusedError, StoppedError, StreamError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID, Waiter
from tests.support.reading import read_chain

if TYPE_CHECKING:
    from collections.abc import Iterator

    import requests_mock

    from tap_leadintent.api.page import Page

    Answer = dict[str, Any]

pytestmark = pytest.mark.usefixtures("clock")

AGENTS = f"{VALID['base_url']}/v1/signals/agents"
LAST = {"data": [{"id": "b"}], "cursor": {"next": None, "has_more": False}}
MORE = {"data": [{"id": "a"}], "cursor": {"next": "c", "has_more": True}}


def failing(error: type[requests.RequestException], reason: Exception) -> Answer:
    """Fail as `requests` does, which wraps urllib3's own error."""
    pool: Any = None
    return {"exc": error(lower.MaxRetryError(pool, "/", reason))}


CONNECTION: Any = "api.example.com:443"
ERRORS = requests.exceptions
NO_ACCESS = {
    "refused": failing(
        ERRORS.ConnectionError, lower.NewConnectionError(CONNECTION, "refused")
    ),
    "timeout": failing(ERRORS.ConnectTimeout, lower.ConnectTimeoutError("too slow")),
    "proxy": failing(ERRORS.ProxyError, lower.ProxyError("no proxy", OSError())),
    "handshake": failing(ERRORS.SSLError, lower.SSLError("unexpected end")),
    "certificate": failing(
        ERRORS.SSLError, lower.SSLError("CERTIFICATE_VERIFY_FAILED")
    ),
}
"""What would befall every stream of a run."""

ONE_STREAM: dict[str, Answer] = {
    "401": {"status_code": 401},
    "403": {"status_code": 403},
    "500": {"status_code": 500},
    "reset": {"exc": ERRORS.ConnectionError(lower.ProtocolError("aborted"))},
    "read timeout": {"exc": ERRORS.ReadTimeout("too slow")},
    "no page": {"text": "<html>"},
}
"""What may befall one stream alone."""


def pages(**config: Any) -> Iterator[Page]:
    stream = TapLeadIntent(config={**VALID, **config}).streams["signal_agents"]
    return read_chain(stream, Waiter())


@pytest.mark.parametrize("answer", NO_ACCESS.values(), ids=NO_ACCESS)
def test_no_access_is_told_from_a_failure(
    requests_mock: requests_mock.Mocker, answer: Answer
) -> None:
    requests_mock.post(AGENTS, [answer])
    with pytest.raises(NoAccessError):
        next(pages(max_retries=2))


def test_an_error_of_a_stream_begins_with_its_name(
    requests_mock: requests_mock.Mocker,
) -> None:
    requests_mock.post(AGENTS, status_code=403)
    stream: Any = TapLeadIntent(config=VALID).streams["signal_agents"]
    with pytest.raises(RefusedError, match=r"^signal_agents: HTTP 403: ") as caught:
        list(stream.get_records(None))
    assert caught.value.status == 403


@pytest.mark.parametrize("name", NO_ACCESS)
def test_a_connection_that_cannot_be_made_means_no_access_also_later(
    requests_mock: requests_mock.Mocker, name: str
) -> None:
    requests_mock.post(AGENTS, [{"json": MORE}, NO_ACCESS[name]])
    read = pages(max_retries=2)
    next(read)
    with pytest.raises(NoAccessError, match=r"^page 2: "):
        next(read)


@pytest.mark.parametrize("answer", ONE_STREAM.values(), ids=ONE_STREAM)
def test_after_the_first_page_other_failures_are_of_one_stream(
    requests_mock: requests_mock.Mocker, answer: Answer
) -> None:
    requests_mock.post(AGENTS, [{"json": MORE}, answer])
    read = pages(max_retries=2)
    next(read)
    with pytest.raises(StreamError) as caught:
        next(read)
    assert not isinstance(caught.value, NoAccessError)


@pytest.mark.parametrize("answer", ONE_STREAM.values(), ids=ONE_STREAM)
def test_what_may_befall_one_stream_is_a_failure_from_the_start(
    requests_mock: requests_mock.Mocker, answer: Answer
) -> None:
    requests_mock.post(AGENTS, [answer])
    with pytest.raises(StreamError) as caught:
        next(pages(max_retries=2))
    assert not isinstance(caught.value, NoAccessError)


@pytest.mark.parametrize("status", [429, 503])
def test_a_rest_begins_before_the_refused_request_leaves_its_place(
    requests_mock: requests_mock.Mocker, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    requests_mock.post(AGENTS, [{"status_code": status}, {"json": LAST}])
    rests = []

    def rest(limiter: RateLimiter, seconds: float) -> None:
        stopped: Any = Waiter(seconds=1)
        with pytest.raises(StoppedError), limiter.turn(stopped, Tally()):
            """Never entered."""
        rests.append(seconds)

    monkeypatch.setattr(RateLimiter, "rest", rest)
    assert len(list(pages(concurrency=1))) == 1
    assert len(rests) == 1
