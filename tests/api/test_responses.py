"""What an answer means, and what the message says to do about it."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent.api.responses import read_page
from tap_leadintent.errors import RefusedError
from tap_leadintent.redaction import Secret
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


def refusal(response: requests.Response) -> str:
    """Give the message of a refusal."""
    with pytest.raises(RefusedError) as caught:
        read_page(response, Secret(API_KEY))
    assert caught.value.status == response.status_code
    return caught.value.message


def trouble(response: requests.Response) -> str:
    """Give the message of what another try may mend."""
    with pytest.raises(RetriableAPIError) as caught:
        read_page(response, Secret(API_KEY))
    return str(caught.value)


def test_a_page_is_accepted() -> None:
    page = '{"data": [], "cursor": {"next": "", "has_more": false}}'
    read_page(answer(200, page), Secret(API_KEY))


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "set api_key to a valid key, made in the dashboard under Developer"),
        (402, "ask whoever manages it"),
        (403, "deselect the stream, or ask for access"),
        (404, "check base_url, which is the root of the API without /v1"),
        (405, "check base_url"),
        (415, "check base_url"),
    ],
)
def test_a_refusal_says_what_to_do(status: int, advice: str) -> None:
    told = refusal(answer(status, '{"error":\n "not so"}', "Nope"))
    assert told.startswith(f"HTTP {status} Nope: ")
    assert advice in told
    assert told.endswith('{"error": "not so"}')


@pytest.mark.parametrize("status", [400, 409, 410, 418, 422])
def test_a_refusal_shows_the_servers_own_words(status: int) -> None:
    assert refusal(answer(status, "limit is 50")) == f"HTTP {status}: limit is 50"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "where"),
    [
        ("https://login.example.com/x?y", " to login.example.com"),
        (
            f"https://user:{API_KEY}@login.example.com:8443/",
            " to login.example.com:8443",
        ),
        (f"https://{API_KEY}.example.com/", " to ***.example.com"),
        ("//elsewhere.example/x", " to elsewhere.example"),
        ("/v2", ""),
        ("", ""),
        ("https://[::1", ""),
        ("https://a\u2100b/", ""),
    ],
)
def test_a_redirect_shows_its_host(status: int, location: str, where: str) -> None:
    told = refusal(answer(status, "moved", "Found", location))
    expected = f"HTTP {status} Found: redirects{where} are not followed; check base_url"
    assert told == expected


@pytest.mark.parametrize("status", [408, 429, 500, 501, 502, 503, 504, 599])
def test_what_may_pass_shows_the_servers_own_words(status: int) -> None:
    assert trouble(answer(status, "wait", "Busy")) == f"HTTP {status} Busy: wait"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<html>\n<b>wait</b>", "<html> <b>wait</b>"),
        ("", "nothing"),
        ('{"error": "later"}', '{"error": "later"}'),
        ('{"data": [], "cursor": null}', '{"data": [], "cursor": null}'),
    ],
)
def test_a_200_without_a_page_shows_what_it_is(body: str, said: str) -> None:
    told = trouble(answer(200, body))
    assert told.startswith("no page of records (")
    assert told.endswith(f") but: {said}")


@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 422, 429, 500])
@pytest.mark.parametrize("filler", ["x", "x\n", "\u2028", "\x00"])
def test_messages_are_one_bounded_line_without_the_key(
    status: int, filler: str
) -> None:
    long = filler * 10_000
    text = f"Bearer {API_KEY} {long} Bearer {API_KEY}"
    response = answer(status, text, text, f"https://{API_KEY}{'x' * 10_000}/")
    with pytest.raises((RefusedError, RetriableAPIError)) as caught:
        read_page(response, Secret(API_KEY))
    told = str(caught.value)
    assert API_KEY not in told
    assert "***" in told
    assert len(told.splitlines()) == 1
    assert len(told) < 1000


def test_a_key_is_not_cut_in_half() -> None:
    for before in range(280, 310):
        told = refusal(answer(400, "x" * before + API_KEY))
        assert API_KEY[:6] not in told
