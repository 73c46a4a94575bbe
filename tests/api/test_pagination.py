"""The page envelope and the cursor chain, read through a real stream."""

import json
from typing import Any

import pytest
import requests
import requests_mock
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.errors import StreamError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID

STREAM = "signal_agents"
URL = f"{VALID['base_url']}/v1/signals/agents"
ABSENT = object()

cursors = st.text(min_size=1)


def envelope(ids: list[int], *, has_more: bool, after: object = "") -> dict[str, Any]:
    """Build a page as the API returns it."""
    cursor: dict[str, Any] = {"has_more": has_more}
    if after is not ABSENT:
        cursor["next"] = after
    return {"data": [{"id": str(number)} for number in ids], "cursor": cursor}


def read(**config: Any) -> list[str]:
    """Read the stream to its end; give the records' ids."""
    config = {**VALID, "max_retries": 0, **config}
    records: Any = TapLeadIntent(config=config).streams[STREAM].get_records(None)
    return [record["id"] for record in records]


def read_responses(*responses: Any) -> list[str]:
    """Read a chain of responses; give the records' ids."""
    with requests_mock.Mocker() as api:
        api.post(URL, [{"json": response} for response in responses])
        return read()


@given(
    pages=st.lists(
        st.lists(st.integers(), max_size=3),
        min_size=1,
        max_size=8,
        unique_by=lambda page: tuple(page) or object(),
    ),
    data=st.data(),
)
def test_reads_every_page_once_and_in_order(
    pages: list[list[int]], data: st.DataObject
) -> None:
    """However records are split, wherever pages are empty, whatever cursors hold."""
    count = len(pages) - 1
    issued = data.draw(
        st.lists(cursors, unique=True, min_size=count, max_size=count), "cursors"
    )
    last = data.draw(st.none() | st.just(ABSENT) | st.text(), "next of the last page")
    responses = [
        envelope(ids, has_more=True, after=after)
        for ids, after in zip(pages, issued, strict=False)
    ]
    responses.append(envelope(pages[-1], has_more=False, after=last))
    # `None` stands for the first page, which is asked for without a cursor.
    by_cursor = dict(zip([None, *issued], responses, strict=True))

    def respond(request: requests.PreparedRequest, _context: object) -> Any:
        body = json.loads(request.body or "")
        return by_cursor.pop(body["cursor"].get("after"))

    with requests_mock.Mocker() as api:
        api.post(URL, json=respond)
        ids = read()
    assert ids == [str(number) for page in pages for number in page]
    assert not by_cursor, "not every page was asked for"


def test_bodies_differ_in_the_cursor_alone() -> None:
    responses = [
        envelope([1], has_more=True, after="é+/=%2B \u0000\u2028'\""),
        envelope([2], has_more=False),
    ]
    config = {"page_size": 7, "filters": {STREAM: {"x": ["1"], "sort": {"by": 1}}}}
    with requests_mock.Mocker() as api:
        api.post(URL, [{"json": response} for response in 2 * responses])
        assert read(**config) == read(**config) == ["1", "2"]
    first, second, *again = (request.json() for request in api.request_history)
    assert again == [first, second], "a new read begins a new chain"
    assert first == {"x": ["1"], "sort": {"by": 1}, "cursor": {"limit": 7}}
    after = responses[0]["cursor"]["next"]
    assert second == {**first, "cursor": {"limit": 7, "after": after}}


@pytest.mark.parametrize("after", [ABSENT, None, ""], ids=["absent", "null", "empty"])
def test_more_without_a_cursor_is_an_error(after: object) -> None:
    first = envelope([1], has_more=True, after="a")
    second = envelope([2], has_more=True, after=after)
    message = r": page 2 .*has_more.*no next cursor"
    with pytest.raises(StreamError, match=message):
        read_responses(first, second)


@pytest.mark.parametrize("lead_in", [0, 3])
@pytest.mark.parametrize("period", [1, 2, 5])
def test_a_cursor_seen_before_is_an_error(lead_in: int, period: int) -> None:
    steps = [*range(lead_in + period), lead_in]
    responses = [envelope([step], has_more=True, after=str(step)) for step in steps]
    message = rf": page {len(steps)} repeats a cursor"
    with pytest.raises(StreamError, match=message):
        read_responses(*responses)


@pytest.mark.parametrize("lead_in", [0, 3])
def test_a_page_seen_before_is_an_error(lead_in: int) -> None:
    """A chain that turns in a circle may have a new cursor on each page."""
    ids = [*range(lead_in + 2), lead_in]
    responses = [envelope([n], has_more=True, after=str(x)) for x, n in enumerate(ids)]
    with pytest.raises(StreamError, match=rf": page {len(ids)} repeats all records of"):
        read_responses(*responses)


@pytest.mark.parametrize("status", [400, 404, 409, 410, 422])
def test_a_refused_cursor_begins_the_chain_again(status: int) -> None:
    first = envelope([1], has_more=True, after="a")
    last = envelope([2], has_more=False)
    responses: list[Any] = [{"json": first}, {"status_code": status}, {"json": last}]
    with requests_mock.Mocker() as api:
        api.post(URL, responses)
        assert read() == ["1", "2"]
    cursors = [request.json()["cursor"].get("after") for request in api.request_history]
    assert cursors == [None, "a", None]
    with requests_mock.Mocker() as api:
        api.post(URL, responses[:2] * 5)
        with pytest.raises(StreamError, match=f"page 2: .*HTTP {status}"):
            read()
    assert api.call_count == 4, "refused again, so it has not expired"


def test_empty_pages_are_followed_up_to_a_limit() -> None:
    counts = [0] * 999 + [1] + [0] * 1_000
    pages = [
        envelope([7] * count, has_more=True, after=str(number))
        for number, count in enumerate(counts)
    ]
    problem = "page 2000 is the last of 1,000 empty pages in a row"
    with pytest.raises(StreamError, match=problem):
        read_responses(*pages)
    last = envelope([8], has_more=False)
    assert read_responses(*pages[:-1], last) == ["7", "8"]
