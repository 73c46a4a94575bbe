"""The page envelope and the cursor chain, read through a real stream."""

import json
from collections.abc import Iterable
from datetime import datetime
from itertools import chain, count
from threading import Event
from typing import Any
from unittest import mock

import pytest
import requests
import requests_mock
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.api.chain import Chain
from tap_leadintent.api.page import NO_RECORDS, Page
from tap_leadintent.api.pagination import EmptyPages
from tap_leadintent.errors import Action, StreamError
from tap_leadintent.singer.errors import RunError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID, HurriedTap, only
from tests.support.store import Store

STREAM = "signal_agents"
URL = f"{VALID['base_url']}/v1/signals/agents"
ABSENT = object()

cursors = st.text(min_size=1)


def envelope(
    ids: Iterable[int],
    *,
    has_more: bool,
    after: object = "",
) -> dict[str, Any]:
    """Build a page as the API returns it."""
    cursor: dict[str, Any] = {"has_more": has_more}
    if after is not ABSENT:
        cursor["next"] = after
    return {
        "data": [{"id": str(number)} for number in ids],
        "cursor": cursor,
    }


def page_before(after: Any, ids: Iterable[int]) -> dict[str, Any]:
    """Build a page that names the cursor of the next one."""
    return envelope(
        ids,
        has_more=True,
        after=after,
    )


def read(**config: Any) -> list[str]:
    """Read the stream to its end; give the records' ids."""
    config = {
        **VALID,
        "max_retries": 0,
        **config,
    }
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
    pages: list[list[int]],
    data: st.DataObject,
) -> None:
    """However records are split, wherever pages are empty, whatever cursors hold."""
    count = len(pages) - 1
    issued = data.draw(
        st.lists(
            cursors,
            unique=True,
            min_size=count,
            max_size=count,
        ),
        "cursors",
    )
    last = data.draw(st.none() | st.just(ABSENT) | st.text(), "next of the last page")
    responses = list(map(page_before, issued, pages))
    responses.append(
        envelope(
            pages[-1],
            has_more=False,
            after=last,
        )
    )
    # `None` stands for the first page, which is asked for without a cursor.
    by_cursor = dict(
        zip(
            [None, *issued],
            responses,
            strict=True,
        )
    )

    def respond(request: requests.PreparedRequest, _context: object) -> Any:
        body = json.loads(request.body or "")
        return by_cursor.pop(body["cursor"].get("after"))

    with requests_mock.Mocker() as api:
        api.post(URL, json=respond)
        ids = read()
    assert ids == list(map(str, chain.from_iterable(pages)))
    assert not by_cursor, "not every page was asked for"


def test_bodies_differ_in_the_cursor_alone() -> None:
    responses = [
        envelope(
            [1],
            has_more=True,
            after="é+/=%2B \u0000\u2028'\"",
        ),
        envelope([2], has_more=False),
    ]
    config = {
        "page_size": 7,
        "filters": {
            STREAM: {
                "x": ["1"],
                "sort": {"by": 1},
            }
        },
    }
    with requests_mock.Mocker() as api:
        api.post(URL, [{"json": response} for response in 2 * responses])
        assert read(**config) == read(**config) == ["1", "2"]
    first, second, *again = (request.json() for request in api.request_history)
    assert again == [first, second], "a new read begins a new chain"
    assert first == {
        "x": ["1"],
        "sort": {"by": 1},
        "cursor": {"limit": 7},
    }
    after = responses[0]["cursor"]["next"]
    assert second == {
        **first,
        "cursor": {"limit": 7, "after": after},
    }


@pytest.mark.parametrize(
    "after",
    [ABSENT, None, ""],
    ids=["absent", "null", "empty"],
)
def test_more_without_a_cursor_is_an_error(after: object) -> None:
    first = envelope(
        [1],
        has_more=True,
        after="a",
    )
    second = envelope(
        [2],
        has_more=True,
        after=after,
    )
    message = r": page 2 .*has_more.*no next cursor"
    with pytest.raises(StreamError, match=message):
        read_responses(first, second)


@pytest.mark.parametrize("lead_in", [0, 3])
@pytest.mark.parametrize("period", [1, 2, 5])
def test_a_cursor_seen_before_is_an_error(lead_in: int, period: int) -> None:
    steps = [*range(lead_in + period), lead_in]
    responses = [page_before(str(step), [step]) for step in steps]
    message = rf": page {len(steps)} repeats a cursor"
    with pytest.raises(StreamError, match=message):
        read_responses(*responses)


@pytest.mark.parametrize("lead_in", [0, 3])
def test_a_page_seen_before_is_an_error(lead_in: int) -> None:
    """A chain that turns in a circle may have a new cursor on each page."""
    ids = [*range(lead_in + 2), lead_in]
    responses = []
    for number, id_ in enumerate(ids):
        page = page_before(str(number), [id_])
        responses.append(page)
    with pytest.raises(StreamError, match=rf": page {len(ids)} repeats all records of"):
        read_responses(*responses)


@pytest.mark.parametrize("status", [400, 404, 409, 410, 422])
def test_a_refused_cursor_begins_the_chain_again(status: int) -> None:
    first = envelope(
        [1],
        has_more=True,
        after="a",
    )
    last = envelope([2], has_more=False)
    responses: list[Any] = [
        {"json": first},
        {"status_code": status},
        {"json": last},
    ]
    with requests_mock.Mocker() as api:
        api.post(URL, responses)
        assert read() == ["1", "2"]
    cursors = []
    for request in api.request_history:
        cursor = request.json()["cursor"]
        cursors.append(cursor.get("after"))
    assert cursors == [None, "a", None]
    with requests_mock.Mocker() as api:
        api.post(URL, responses[:2] * 5)
        with pytest.raises(StreamError, match=f"page 2: .*HTTP {status}"):
            read()
    assert api.call_count == 4, "refused again, so it has not expired"


def test_a_record_that_begins_the_next_page_again_counts_once() -> None:
    """So that a query that the API ends after 500 records ends after 500."""
    pages = [
        page_before("3", range(3)),
        page_before("5", range(2, 5)),
        envelope(range(4, 6), has_more=False),
    ]
    bodies = [Page.of(json.dumps(page).encode()) for page in pages]
    client = mock.Mock(empty_pages=EmptyPages())
    client.fetch.side_effect = bodies
    query = Chain(client, {})
    counts: list[int] = []
    for _ in bodies:
        query.fetch(Event(), 0)
        counts.append(query.records)
    assert counts == [3, 5, 6]


def test_a_chain_that_begins_again_counts_its_first_record() -> None:
    """Also if that ended the page before the cursor was refused."""
    refusal = StreamError("refused", actions=Action.RESTART)
    pages: list[Page] = []
    for content in (page_before("1", [1]), envelope([1], has_more=False)):
        body = json.dumps(content).encode()
        pages.append(Page.of(body))
    first, again = pages
    client = mock.Mock(empty_pages=EmptyPages())
    client.fetch.side_effect = [first, refusal, again]
    query = Chain(client, {})
    query.fetch(Event(), 0)
    query.fetch(Event(), 0)
    assert query.records == 1


def test_empty_pages_are_followed_up_to_a_limit() -> None:
    counts = [0] * 999 + [1] + [0] * 1_000
    pages = []
    for number, records in enumerate(counts):
        pages.append(page_before(str(number), [7] * records))
    problem = "page 2000 is the last of 1,000 empty pages in a row"
    with pytest.raises(StreamError, match=problem):
        read_responses(*pages)
    last = envelope([8], has_more=False)
    assert read_responses(*pages[:-1], last) == ["7", "8"]


WINDOWED = f"{VALID['base_url']}/v1/signals/leads"
DAY = {
    "start_date": "2026-01-01",
    "end_date": "2026-01-02",
    "concurrency": 1,
}


def run_leads(respond: Any) -> tuple[int, str]:
    """Let a run read a day of leads; return the number of requests, and its error."""
    config = {
        **VALID,
        **DAY,
        "max_retries": 0,
    }
    tap = TapLeadIntent(
        config=config,
        catalog=only("leads"),
    )
    with requests_mock.Mocker() as api:
        api.post(WINDOWED, json=respond)
        try:
            tap.sync_all()
        except RunError as error:
            return api.call_count, str(error)
    return api.call_count, ""


def holds_noon(request: Any) -> bool:
    """Return whether a request is for a range that holds the noon of the day."""
    start, end = request.json()["date_found"].values()
    return bool(start <= "2026-01-01T12:00:00Z" <= end)


def test_empty_pages_without_an_end_are_said_and_take_few_requests(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each has a fresh cursor, in each window."""
    cursors = count()

    def respond(_request: object, _context: object) -> Any:
        return envelope(
            [],
            has_more=True,
            after=f"cursor {next(cursors)}",
        )

    requests, error = run_leads(respond)
    assert requests < 200
    assert "empty pages in a row, without an end" in error
    assert caplog.text.count("why queries do not end: 20 pages in a row") == 1


def test_windows_whose_pages_are_mostly_empty_are_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An API may filter its records after it has cut them into pages."""

    def respond(request: Any, _context: object) -> Any:
        body = request.json()
        bounds = body["date_found"]
        start = datetime.fromisoformat(bounds["start_time"])
        end = datetime.fromisoformat(bounds["end_time"])
        pages = int((end - start).total_seconds() // 300)
        number = int(body["cursor"].get("after", 0)) + 1
        is_last = number > pages
        return envelope(
            [],
            has_more=not is_last,
            after="" if is_last else f"{number}",
        )

    requests, error = run_leads(respond)
    assert not error
    assert 288 <= requests < 900
    assert "why queries do not end" in caplog.text


def test_an_empty_page_with_its_own_cursor_is_the_last(
    caplog: pytest.LogCaptureFixture,
) -> None:
    first = envelope(
        [1],
        has_more=True,
        after="a",
    )
    last = envelope(
        [],
        has_more=True,
        after="a",
    )
    warning = "Empty pages with the cursor of their own request were taken for the last"
    assert read_responses(first, envelope([], has_more=False)) == ["1"]
    assert warning not in caplog.text
    assert read_responses(first, last) == ["1"]
    assert caplog.text.count(warning) == 1


@pytest.mark.parametrize(
    "cursor",
    [
        {},
        {"has_more": None, "next": ""},
    ],
    ids=str,
)
def test_a_last_page_without_has_more(
    caplog: pytest.LogCaptureFixture,
    cursor: Any,
) -> None:
    first = envelope(
        [1],
        has_more=True,
        after="a",
    )
    last = {
        "data": [{"id": "2"}],
        "cursor": cursor,
    }
    assert read_responses(first, last) == ["1", "2"]
    assert "Pages without cursor.has_more and cursor.next were taken" in caplog.text


def test_a_response_without_a_body_after_pages(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is an empty page only where the endpoint has returned records."""
    lead = {
        "data": [{"id": "1"}],
        "cursor": {"has_more": False},
    }
    config = {
        **VALID,
        "start_date": "2026-01-01",
        "max_retries": 0,
        "concurrency": 1,
    }
    with requests_mock.Mocker() as api:
        api.post(WINDOWED, [{"json": lead}, {"text": ""}])
        HurriedTap(
            config=config,
            catalog=only("leads"),
        ).sync_all()
        assert "also when they are asked for again, in an empty body" in caplog.text
        api.post(WINDOWED, text="")
        with pytest.raises(RunError, match="the response is empty"):
            HurriedTap(
                config=config,
                catalog=only("leads"),
            ).sync_all()


def test_a_limit_that_the_api_ignores(caplog: pytest.LogCaptureFixture) -> None:
    """A page with more records than were asked for is no sign of a limit of queries."""

    def respond(request: Any, _context: object) -> Any:
        ids = [*range(1_500)] if holds_noon(request) else []
        return envelope(ids, has_more=False)

    requests, error = run_leads(respond)
    assert requests < 100
    assert error == ""
    assert len(read_responses(envelope([*range(1_500)], has_more=False))) == 1_500
    assert "A query ended after" not in caplog.text


BROKEN = (
    b'{"data": [{"id": "1", "version": 1}, %s, {"id": "2", "version": 1}], '
    b'"cursor": {"has_more": false}}'
)


@pytest.mark.parametrize(
    "record",
    [b"null", b'"x"', b'{"id": "\xff\n"}'],
    ids=repr,
)
def test_a_record_that_cannot_be_decoded_ends_no_stream(record: bytes) -> None:
    store = Store()

    def respond(request: Any, _context: object) -> bytes:
        return BROKEN % record if holds_noon(request) else NO_RECORDS

    config = {**VALID, **DAY}
    with requests_mock.Mocker() as api:
        api.post(WINDOWED, content=respond)
        tap = TapLeadIntent(
            config=config,
            catalog=only("leads"),
            message_writer=store,  # type: ignore[arg-type]
        )
        text = r"1 record that cannot be decoded left out \(from .*\), everything else"
        with pytest.raises(RunError, match=text):
            tap.sync_all()
    first, second = store.records()
    assert first["id"] == "1"
    assert second["id"] == "2"
    _head, covered = store.state["bookmarks"]["leads"]["coverage"]
    assert covered["from"] == "2026-01-01T00:00:00Z"
    assert covered["to"] == "2026-01-02T00:00:00Z"
