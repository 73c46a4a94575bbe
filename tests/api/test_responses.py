"""What an answer means, and what the message says to do about it."""

from __future__ import annotations

import pytest
import requests
from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent.api.page import Page
from tap_leadintent.api.responses import failure, not_a_page
from tap_leadintent.errors import RefusedError
from tap_leadintent.log import Secret
from tests.support.helpers import API_KEY


def answer(
    status: int, text: str = "", reason: str = "", location: str = ""
) -> requests.Response:
    response = requests.Response()
    response.status_code = status
    response.reason = reason
    response._content = text.encode()  # noqa: SLF001 - as requests-mock does
    response.headers["Location"] = location
    return response


def explained(response: requests.Response, *doubtful: str, key: str = API_KEY) -> str:
    """Give the message for a response that is not a page."""
    secret, error = Secret(key), None
    if response.status_code != requests.codes.ok:
        error = failure(response, secret, doubtful)
    else:
        with pytest.raises(ValueError, match=r".") as caught:
            Page.of(response.content)
        error = not_a_page(response, caught.value, secret)
    passes = response.status_code in {200, 408, 429, 500, 502, 503, 504, 599}
    assert isinstance(error, RetriableAPIError if passes else RefusedError)
    return str(error)


NO_DATA = "Object missing required field `data`"
CUT = "Input data was truncated"
SUPPORT = "if it goes on, ask the API's support"
INVALID = "the API does not accept the request"
OVERLOADED = "the API, or a gateway before it, is down or overloaded; "
OVERLOADED += "lower concurrency, or try later"
ROOT = "check base_url, which is the root of the API without /v1"


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (204, f"this status is not expected; {ROOT}"),
        (304, f"this status is not expected; {ROOT}"),
        (400, INVALID),
        (409, f"the API refused the request; {SUPPORT}"),
        (413, "the request is too large for the API; shorten the lists in filters"),
        (422, INVALID),
        (505, f"the API failed; {SUPPORT}"),
        (408, f"the request did not reach the API in time; {SUPPORT}"),
        (429, "the API wants fewer requests; set max_requests_per_minute, or lower it"),
        (500, f"the API failed; {SUPPORT}"),
        (502, OVERLOADED),
        (503, OVERLOADED),
        (504, OVERLOADED),
        (599, f"the API failed; {SUPPORT}"),
    ],
)
def test_a_message_says_what_to_do_and_shows_the_servers_own_words(
    status: int, advice: str
) -> None:
    told = explained(answer(status, '{"error":\n "no"}', "Nope"))
    assert told == f'HTTP {status} Nope: {advice}: {{"error": "no"}}'
    assert explained(answer(status)) == f"HTTP {status}: {advice}"


@pytest.mark.parametrize("status", [400, 422])
def test_a_refusal_names_undocumented_filters(status: int) -> None:
    doubtful = ["filters.leads.sort", "filters.leads.\x1b"]
    assert explained(answer(status, "no"), *doubtful) == (
        f"HTTP {status}: {INVALID}; the API description does not show "
        "filters.leads.sort, filters.leads.\\x1b: check or remove it: no"
    )
    assert "sort" not in explained(answer(403, "no"), *doubtful)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused(status: int) -> None:
    told = explained(answer(status, "moved", "Found", "https://elsewhere.example/x"))
    assert told == f"HTTP {status} Found: redirects are not followed; check base_url"


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
    assert explained(answer(200, body)) == told + (f": {body}" if body else "")


@pytest.mark.parametrize("status", [200, 302, 400, 401, 404, 429, 500])
@pytest.mark.parametrize("filler", ["x", "x\n", "\u2028", "\x00", "\x1b]\x9b2J\u202e"])
def test_messages_are_one_bounded_printable_line_without_the_key(
    status: int, filler: str
) -> None:
    text = f"Bearer {API_KEY} {filler * 10_000} Bearer {API_KEY}"
    location = f"https://{API_KEY}{'x' * 10_000}/"
    told = explained(answer(status, text, text, location))
    assert API_KEY not in told
    assert "***" in told
    assert told.isprintable()
    assert len(told) < 1000


def test_a_key_is_not_cut_in_half() -> None:
    for before in range(280, 310):
        told = explained(answer(400, "x" * before + API_KEY))
        assert API_KEY[:6] not in told
