"""What an answer means, and what the message says to do about it."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent.api.page import Page
from tap_leadintent.api.responses import failure, not_a_page
from tap_leadintent.errors import RefusedError
from tap_leadintent.log import Secret
from tests.support.helpers import API_KEY


def answer(
    status: int, text: str = "", reason: Any = None, location: str | None = None
) -> requests.Response:
    response = requests.Response()
    response.status_code = status
    response.reason = reason
    response._content = text.encode()  # noqa: SLF001 - as requests-mock does
    if location is not None:
        response.headers["Location"] = location
    return response


def explained(
    response: requests.Response, *doubtful: str
) -> RefusedError | RetriableAPIError:
    """Give the error for a response that is not a page."""
    secret = Secret(API_KEY)
    if response.status_code != requests.codes.ok:
        return failure(response, secret, doubtful)
    try:
        Page.of(response.content)
    except ValueError as error:
        return not_a_page(response, error, secret)
    pytest.fail("it is a page")


def refusal(response: requests.Response, *doubtful: str) -> str:
    """Give the message of a refusal."""
    error = explained(response, *doubtful)
    assert isinstance(error, RefusedError)
    assert error.status == response.status_code
    return error.message


def trouble(response: requests.Response) -> str:
    """Give the message of what another try may mend."""
    error = explained(response)
    assert isinstance(error, RetriableAPIError)
    return str(error)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "set api_key to a valid key, made in the dashboard under Developer"),
        (402, "ask its administrator"),
        (403, "deselect the stream, or ask for access"),
        (404, "check base_url, which is the root of the API without /v1"),
        (405, "check base_url"),
        (415, "check base_url"),
        (501, "check base_url"),
        (505, "the API failed; if it goes on, ask the API's support"),
    ],
)
def test_a_refusal_says_what_to_do(status: int, advice: str) -> None:
    told = refusal(answer(status, '{"error":\n "not so"}', "Nope"))
    assert told.startswith(f"HTTP {status} Nope: ")
    assert advice in told
    assert told.endswith('{"error": "not so"}')


NO_DATA = "Object missing required field `data`"
CUT = "Input data was truncated"
SUPPORT = "if it goes on, ask the API's support"
INVALID = "the API does not accept the request"
OVERLOADED = (
    "the API, or a gateway before it, is down or overloaded; lower concurrency, or try "
    "later"
)
ROOT = "check base_url, which is the root of the API without /v1"


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, INVALID),
        (409, f"the API refused the request; {SUPPORT}"),
        (413, "the request is too large for the API; shorten the lists in filters"),
        (418, f"the API refused the request; {SUPPORT}"),
        (422, INVALID),
        (204, f"this status is not expected; {ROOT}"),
        (304, f"this status is not expected; {ROOT}"),
    ],
)
def test_a_refusal_shows_the_servers_own_words(status: int, advice: str) -> None:
    told = refusal(answer(status, "limit is 50"))
    assert told == f"HTTP {status}: {advice}: limit is 50"
    assert refusal(answer(status)) == f"HTTP {status}: {advice}"


@pytest.mark.parametrize("status", [400, 422])
def test_a_refusal_names_undocumented_filters(status: int) -> None:
    doubtful = ["filters.leads.sort", "filters.leads.\x1b"]
    assert refusal(answer(status, "no"), *doubtful) == (
        f"HTTP {status}: {INVALID}; the API description does not show "
        "filters.leads.sort, filters.leads.\\x1b: check or remove it: no"
    )
    assert "sort" not in refusal(answer(403, "no"), *doubtful)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused(status: int) -> None:
    told = refusal(answer(status, "moved", "Found", "https://elsewhere.example/x"))
    assert told == (f"HTTP {status} Found: redirects are not followed; check base_url")


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (408, f"the request did not reach the API in time; {SUPPORT}"),
        (
            429,
            "the API wants fewer requests; set max_requests_per_minute, or lower it",
        ),
        (500, f"the API failed; {SUPPORT}"),
        (502, OVERLOADED),
        (503, OVERLOADED),
        (504, OVERLOADED),
        (599, f"the API failed; {SUPPORT}"),
    ],
)
def test_what_may_pass_shows_the_servers_own_words(status: int, advice: str) -> None:
    told = trouble(answer(status, "wait", "Busy"))
    assert told == f"HTTP {status} Busy: {advice}: wait"


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("", "Input data was truncated"),
        ('{"error": "later"}', NO_DATA),
        ("[]", "Expected `object`, got `array`"),
        ('{"data": [', CUT),
    ],
)
def test_a_200_without_a_page_says_what_is_wrong(body: str, wrong: str) -> None:
    told = f"the response is not a page of records ({wrong}); {SUPPORT}, or {ROOT}"
    assert trouble(answer(200, body)) == told + (f": {body}" if body else "")


@pytest.mark.parametrize("status", [200, 400, 403, 429, 500])
def test_nothing_of_a_server_reaches_the_terminal(status: int) -> None:
    evil = "\x1b]0;x\x07\x9b2J\u202e\u2066\u200f"
    told = str(explained(answer(status, evil, evil)))
    assert told.isprintable()
    assert "\\x1b]0;x\\x07\\x9b2J\\u202e\\u2066\\u200f" in told


@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 422, 429, 500])
@pytest.mark.parametrize("filler", ["x", "x\n", "\u2028", "\x00"])
def test_messages_are_one_bounded_line_without_the_key(
    status: int, filler: str
) -> None:
    long = filler * 10_000
    text = f"Bearer {API_KEY} {long} Bearer {API_KEY}"
    response = answer(status, text, text, f"https://{API_KEY}{'x' * 10_000}/")
    told = str(explained(response))
    assert API_KEY not in told
    assert "***" in told
    assert len(told.splitlines()) == 1
    assert len(told) < 1000


def test_a_key_is_not_cut_in_half() -> None:
    for before in range(280, 310):
        told = refusal(answer(400, "x" * before + API_KEY))
        assert API_KEY[:6] not in told
