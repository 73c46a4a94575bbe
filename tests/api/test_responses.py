"""What an answer means, where `tests/e2e/test_messages.py` does not see it."""

import pytest
import requests

from tap_leadintent.api.failures import no_page
from tap_leadintent.log import Secret
from tests.support.helpers import API_KEY


def answer(status: int, text: str, reason: str = "") -> requests.Response:
    response = requests.Response()
    response.status_code = status
    response.reason = reason
    response._content = text.encode()  # noqa: SLF001 - as requests-mock does
    return response


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (307, "this is not a page of records, and redirects are not followed; check"),
        (409, "the API refused the request; if this continues, ask the API's support"),
        (500, "the API, or a gateway before it, is down or overloaded; lower concurr"),
        (999, "the API, or a gateway before it, is down or overloaded; lower concurr"),
        (501, "the API was not found at this address; check base_url"),
    ],
)
def test_a_message_says_what_to_do_and_shows_the_servers_own_words(
    status: int, advice: str
) -> None:
    response = answer(status, '{"error":\n "no"}', "Nope")
    told = str(no_page(response, 0, Secret(API_KEY)))
    assert told.startswith(f"HTTP {status} Nope: {advice}")
    assert told.endswith(': {"error": "no"}')
