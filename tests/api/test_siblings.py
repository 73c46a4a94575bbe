"""A page that says beside its records what no other page says is asked for again."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import count, islice, product
from string import ascii_lowercase
from typing import Any

import msgspec
import pytest

from tap_leadintent.api.envelope import EMPTY_BODY
from tap_leadintent.api.page import NO_RECORDS, Page
from tap_leadintent.api.siblings import Siblings
from tap_leadintent.singer.errors import RunError
from tests.support.helpers import Json, last_page, leads_with
from tests.support.model import DAY, HOUR, Api, steady
from tests.support.model_runs import CONFIG, count_requests, run
from tests.support.store import Store

LIST = leads_with(replication_method="FULL_TABLE")
WINDOWS = leads_with()

WARNING = "leads: Ask the API's support whether records are missing. Some pages differ "

Said = Callable[["Spoken"], Json]
"""Returns what a page says beside its records."""


@dataclass(frozen=True)
class Spoken:
    """What is known of a page that says something."""

    number: int
    """The number of the response."""
    records: int
    total: int
    is_first: bool
    has_more: bool
    after: str
    body: Json


def nothing(_: Spoken) -> Json:
    return {}


@dataclass
class TalkingApi(Api):
    """An API that says more than its records."""

    says: Said = nothing
    """What each page says."""

    partial: Said = nothing
    """What a page says in addition that lacks records."""

    lacking: set[int] = field(default_factory=set)
    """The numbers of the responses that lack half of their records, and say that they
    are the last."""

    lacks_always: bool = False
    """Whether a query whose response lacks records lacks them each time."""

    status_then: int = 200
    """The status of these responses."""

    is_empty_then: bool = False
    """Whether these responses have no records at all."""

    lost: int = 0
    """How many responses lacked records."""

    numbers: Any = field(default_factory=count)
    _broken: set[str] = field(default_factory=set)

    def respond(self, body: Json) -> tuple[int, Json]:
        code, page = super().respond(body)
        if code != 200:
            return code, page
        number = next(self.numbers) if page["data"] else -1
        query = json.dumps(body, sort_keys=True)
        is_lacking = number in self.lacking
        if is_lacking and self.lacks_always:
            self._broken.add(query)
        beside: Json = {}
        if is_lacking or query in self._broken:
            self.lost += 1
            half = len(page["data"]) // 2
            page = {
                "data": [] if self.is_empty_then else page["data"][:half],
                "cursor": {"next": "", "has_more": False},
            }
            code = self.status_then
        spoken = Spoken(
            number=number,
            records=len(page["data"]),
            total=self.found,
            is_first="after" not in body["cursor"],
            has_more=page["cursor"]["has_more"],
            after=page["cursor"]["next"],
            body=body,
        )
        beside = self.says(spoken)
        if is_lacking or query in self._broken:
            beside = merged(beside, self.partial(spoken))
        return code, merged(page, beside)


def merged(one: Json, other: Json) -> Json:
    """Return an object with the fields of another, on all levels."""
    result = {**one}
    for name, value in other.items():
        before = result.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            result[name] = merged(before, value)
        else:
            result[name] = value
    return result


def saying_always(beside: Json, _: Spoken) -> Json:
    return beside


def saying(usual: Json, then: Json) -> tuple[Said, Said]:
    return lambda _: usual, lambda _: then


PARTIAL: dict[str, tuple[Json, Json]] = {
    "_shards.failed": (
        {"_shards": {"total": 5, "failed": 0}},
        {"_shards": {"failed": 1}},
    ),
    "_shards.successful": (
        {"_shards": {"successful": 5}},
        {"_shards": {"failed": 1}},
    ),
    "truncated": ({"truncated": False}, {"truncated": True}),
    "truncated, new": ({}, {"truncated": True}),
    "ready": ({}, {"ready": False}),
    "ready, usual": ({"ready": True}, {"ready": False}),
    "status": ({"status": "ok"}, {"status": "pending"}),
    "state": ({"state": "done"}, {"state": "computing"}),
    "code with msg": (
        {"code": 0, "msg": "ok"},
        {"code": 1206, "msg": "busy"},
    ),
    "code": ({"code": 200}, {"code": 206}),
    "partial_results": ({}, {"partial_results": True}),
    "warnings": (
        {"warnings": []},
        {"warnings": ["a shard did not answer"]},
    ),
    "warnings, objects": (
        {},
        {"warnings": [{"code": "W12", "shard": 3}]},
    ),
    "meta.complete": (
        {"meta": {"complete": True}},
        {"meta": {"complete": False}},
    ),
    "meta.timed_out": (
        {"meta": {"page": 1}},
        {"meta": {"timed_out": True}},
    ),
    "cursor.partial": ({}, {"cursor": {"partial": True}}),
    "cursor.has_more": ({}, {"cursor": {"has_more": None}}),
    "result.shards": (
        {
            "result": {
                "shards": [
                    {"ok": True, "ms": 3},
                    {"ok": True, "ms": 5},
                ]
            }
        },
        {
            "result": {
                "shards": [
                    {"ok": True, "ms": 4},
                    {"ok": False, "ms": 9},
                ]
            }
        },
    ),
    "errors": (
        {"errors": None},
        {"errors": [{"message": "shard 3"}]},
    ),
    "error": ({}, {"error": "lost a node"}),
    "success": ({"success": True}, {"success": False}),
    "is_estimate": ({}, {"is_estimate": "yes"}),
    "data_quality": ({"data_quality": "full"}, {"data_quality": "degraded"}),
    "sources": ({"sources": ["a", "b"]}, {"sources": ["a"]}),
    "stale": (
        {"cache": {"stale": False}},
        {"cache": {"stale": True}},
    ),
    "a field that is missing": ({"complete": True}, {"complete": None}),
}
"""What all pages say, and what one says in addition that lacks records."""


def api_with(
    usual: Json,
    then: Json,
    **how: Any,
) -> TalkingApi:
    says, partial = saying(usual, then)
    return TalkingApi(
        now=60 * HOUR,
        leads=steady(60),
        says=says,
        partial=partial,
        **how,
    )


@pytest.mark.parametrize("way", ["list", "windows"])
@pytest.mark.parametrize("spelling", PARTIAL)
def test_a_page_with_a_part_of_its_records(
    spelling: str,
    way: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Twelve pages in a list, and more in windows; one of them lacks records, once."""
    catalog = LIST if way == "list" else WINDOWS
    config = {**CONFIG, "page_size": 5}
    for position in (3, 5, 8):
        api = api_with(*PARTIAL[spelling], lacking={position})
        store = Store()
        assert run(api, store, config, catalog=catalog)
        assert api.lost == 1
        assert len(store.rows) == 60, position
    assert WARNING not in caplog.text


@pytest.mark.parametrize("spelling", PARTIAL)
def test_a_page_that_lacks_records_each_time_is_said(
    spelling: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = api_with(
        *PARTIAL[spelling],
        lacking={5},
        lacks_always=True,
    )
    store = Store()
    config = {**CONFIG, "page_size": 5}
    run(api, store, config, catalog=LIST)
    assert len(store.rows) < 60
    assert f"{WARNING}from all others" in caplog.text


@pytest.mark.parametrize("spelling", PARTIAL)
def test_a_later_run_of_one_page(spelling: str) -> None:
    """It has no siblings but those that its state knows."""
    usual, _ = PARTIAL[spelling]
    api = api_with(*PARTIAL[spelling])
    store = Store()
    assert run(api, store, CONFIG)
    api.now = 61 * HOUR
    api.leads = steady(61)
    api.numbers = count()
    api.lacking = {0}
    assert run(api, store, CONFIG)
    assert api.lost == 1
    assert len(store.rows) == 61
    (bookmark,) = store.state["bookmarks"].values()
    text = bookmark["envelope"]
    assert len(text) < 200
    if usual:
        assert json.dumps(usual)[1:-1] not in text


NOT_READY: dict[str, tuple[int, Json]] = {
    "pending": (200, {"status": "pending"}),
    "queued, 202": (202, {"status": "queued"}),
    "202": (202, {}),
    "ready": (200, {"ready": False}),
    "job": (200, {"job": {"state": "computing"}}),
    "processing, 202": (202, {"meta": {"status": "processing"}}),
}
"""What a response without records says that comes before its query is ready."""


@pytest.mark.parametrize("way", ["list", "windows"])
@pytest.mark.parametrize("spelling", NOT_READY)
def test_a_query_that_is_not_ready(spelling: str, way: str) -> None:
    status, then = NOT_READY[spelling]
    catalog = LIST if way == "list" else WINDOWS
    config = {**CONFIG, "page_size": 5}
    for position in ({3}, {4, 5}):
        api = api_with({}, then, lacking=position)
        api.status_then = status
        api.is_empty_then = True
        store = Store()
        assert run(api, store, config, catalog=catalog)
        assert len(store.rows) == 60


@pytest.mark.parametrize("spelling", ["pending", "queued, 202", "202"])
def test_a_query_that_never_gets_ready(spelling: str) -> None:
    """It is the first one of an endpoint."""
    status, then = NOT_READY[spelling]
    api = api_with(
        {},
        then,
        lacking={0},
        lacks_always=True,
    )
    api.status_then = status
    api.is_empty_then = True
    store = Store()
    config = {**CONFIG, "max_retries": 3}
    with pytest.raises(
        RunError,
        match=r"the API says that a page lacks records \(gave",
    ):
        run(api, store, config, catalog=LIST)
    assert not store.rows


HONEST: dict[str, Said] = {
    "request id": lambda page: {"request_id": f"req-{page.number:x}7f"},
    "time": lambda page: {
        "served_at": f"2026-11-28T07:{page.number % 60:02}:09Z",
    },
    "took": lambda page: {"took": page.number * 7 % 31 + 1},
    "took, nested": lambda page: {
        "meta": {
            "timing": {"ms": page.number * 1.5},
        },
    },
    "count": lambda page: {"count": page.records},
    "total": lambda page: {"total": page.total},
    "count and total": lambda page: {
        "meta": {
            "count": page.records,
            "total": page.total,
            "version": "v1",
        },
    },
    "page number": lambda page: {
        "meta": {"page": 1 if page.is_first else 2},
    },
    "is_last": lambda page: {"is_last": not page.has_more},
    "has_next": lambda page: {
        "pagination": {"has_next": page.has_more},
    },
    "prev": lambda page: {
        "prev": None if page.is_first else f"c{page.number}",
    },
    "prev, absent": lambda page: {} if page.is_first else {"prev": f"c{page.number}"},
    "has_more": lambda page: {
        "cursor": {"has_more": page.has_more or None},
    },
    "links": lambda page: {
        "links": {"next": f"/v1?c={page.number}" if page.has_more else None},
    },
    "node": lambda page: {"node": f"api-{page.number % 3}"},
    "echo": lambda page: {
        "query": page.body,
        "limit": page.body["cursor"]["limit"],
    },
    "nothing": nothing,
    "constants": lambda _: {
        "api": "v3",
        "status": "ok",
        "warnings": [],
        "ok": True,
    },
    "shards": lambda page: {
        "_shards": {"total": 5, "failed": 0},
        "took": page.number,
    },
    "notice": lambda _: {
        "errors": [{"message": "v1 ends in May"}],
    },
    "ids as names": lambda page: {
        "by_id": {
            f"a{page.number}": {"cached": True},
        },
    },
}
"""What the pages of an API may say that lack nothing."""


MORE = {
    "is_last": 1,
    "has_next": 1,
    "has_more": 1,
    "echo": 2,
    "notice": 1,
}
"""The requests that a first load takes more, where it is not none: until the first last
page of a query, nobody can know that a value tells last pages. A notice may be an error
until it comes again."""

SAID = {
    ("is_last", True),
    ("has_next", True),
    ("has_more", True),
    ("notice", True),
    ("notice", False),
}
"""What is said in a first load, by whether it is a list. A list has one last page."""


def requests_of(says: Said, catalog: Json) -> list[int]:
    """Return how many requests a first load takes, and each of two later runs."""
    api = TalkingApi(
        now=20 * DAY,
        leads=steady(480),
        says=says,
    )
    store = Store()
    counts: list[int] = []
    config = {**CONFIG, "concurrency": 1}
    for hours in (0, 1, 24):
        api.now += hours * HOUR
        api.leads = steady(int(api.now // HOUR))
        assert run(api, store, config, catalog=catalog)
        assert len(store.rows) >= len(api.leads)
        counts.append(count_requests(api))
    return counts


@cache
def usual_requests(*, is_list: bool) -> list[int]:
    return requests_of(nothing, LIST if is_list else WINDOWS)


@pytest.mark.parametrize("name", HONEST)
def test_the_cost_of_a_healthy_envelope(
    name: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for catalog in (WINDOWS, LIST):
        usual = usual_requests(is_list=catalog is LIST)
        found = requests_of(HONEST[name], catalog)
        pairs = zip(found, usual, strict=True)
        more = [taken - expected for taken, expected in pairs]
        first, *later = more
        assert first <= MORE.get(name, 0), more
        assert max(later) <= 2, more
        is_said = f"{WARNING}from" in caplog.text
        assert is_said == ((name, catalog is LIST) in SAID), caplog.text
        caplog.clear()


def flagged(page: Spoken) -> Json:
    """Return one of twenty fields."""
    letter = ascii_lowercase[page.number % 20]
    return {f"flag {letter}": True}


def test_a_run_asks_ten_times_at_most(caplog: pytest.LogCaptureFixture) -> None:
    """What differs after that counts, and is said."""
    api = TalkingApi(
        now=20 * DAY,
        leads=steady(480),
    )
    api.says = flagged
    usual = TalkingApi(
        now=20 * DAY,
        leads=steady(480),
    )
    config = {**CONFIG, "concurrency": 1}
    for each in (api, usual):
        store = Store()
        assert run(each, store, config, catalog=LIST)
        assert len(store.rows) == 480
    assert 0 < count_requests(api) - count_requests(usual) <= 10
    assert f"{WARNING}from all others" in caplog.text


def test_an_error_without_records_is_never_a_page() -> None:
    """Also where all pages have a notice of another kind."""
    api = TalkingApi(
        now=20 * DAY,
        leads=steady(480),
    )
    api.says = lambda _: {"errors": [{"text": "v1 ends in May"}]}
    api.partial = lambda _: {"errors": [{"text": "no shard answered"}]}
    api.lacking = {6}
    api.lacks_always = True
    api.is_empty_then = True
    config = {**CONFIG, "max_retries": 1}
    with pytest.raises(RunError, match=r"it says so in errors, errors\[\].text"):
        run(
            api,
            Store(),
            config,
            catalog=LIST,
        )


def test_demo_records_are_said_when_they_come(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = TalkingApi(
        now=20 * DAY,
        leads=steady(480),
    )
    store = Store()
    steps: list[tuple[Json, bool]] = [
        ({"mode": "live"}, False),
        ({"mode": "sample"}, True),
        ({"mode": "sample"}, False),
        ({"mode": "sample", "sample": True}, True),
    ]
    for beside, is_said in steps:
        api.says = partial(saying_always, beside)
        assert run(api, store, CONFIG, catalog=LIST)
        assert (f"{WARNING}from all others" in caplog.text) == is_said
        caplog.clear()


def page_of(
    beside: Json,
    *,
    records: int = 1,
    after: str = "",
) -> Page:
    content = {
        "data": [{"id": str(number)} for number in range(records)],
        "cursor": {
            "has_more": bool(after),
            "next": after,
        },
        **beside,
    }
    return Page.of(json.dumps(content).encode())


def taught(*beside: Json) -> Siblings:
    siblings = Siblings()
    for each in beside:
        odd_in(siblings, page_of(each))
    return siblings


def odd_in(
    siblings: Siblings,
    *answers: Page,
    may_ask: bool = True,
) -> list[str]:
    return siblings.judge(
        answers,
        is_first=True,
        may_ask=may_ask,
    )


def test_an_answer_that_is_like_the_others_counts() -> None:
    siblings = taught(
        {"a": 1},
        {"a": 1},
        {"a": 1},
    )
    odd = page_of({"a": True}, records=3)
    usual = page_of({"a": 1}, records=5)
    assert odd_in(siblings, odd) == ["a"]
    assert odd_in(siblings, odd, usual) == []
    assert odd_in(siblings, odd) == ["a"]
    assert siblings.odd_names == []


def test_a_value_that_differs_between_two_answers_means_nothing() -> None:
    siblings = taught(*3 * [{"node": "east"}])
    answers = [
        page_of({"node": "west"}),
        page_of({"node": "north"}),
    ]
    assert odd_in(siblings, answers[0]) == ["node"]
    assert odd_in(siblings, *answers) == []
    assert odd_in(siblings, page_of({"node": "south"})) == []
    assert siblings.odd_names == []


def test_a_page_without_records_is_asked_for_twice_more() -> None:
    siblings = taught(*3 * [{}])
    empty = page_of({"ready": False}, records=0)
    assert odd_in(siblings, empty) == ["ready"]
    assert odd_in(siblings, empty, empty) == ["ready"]
    assert odd_in(siblings, empty, empty, empty) == []
    assert siblings.odd_names == ["ready"]


def test_records_that_change_meanwhile_are_the_same_by_their_ids() -> None:
    siblings = taught(*3 * [{}])
    one = last_page({"id": 1, "score": 1}, has_warnings=True)
    other = last_page({"id": 1, "score": 2}, has_warnings=True)
    answers: list[Page] = []
    for content in (one, other):
        body = json.dumps(content).encode()
        answers.append(Page.of(body))
    assert odd_in(siblings, *answers) == []


def test_the_text_in_the_state() -> None:
    text_of_a = "values-of-no-record"
    usual = {
        "a": text_of_a,
        "b": {"c": True, "d": 3},
        "e": "2026-11-28T08:00:00Z",
    }
    siblings = taught(
        usual,
        usual,
        {
            **usual,
            "b": {"c": True, "d": 4},
        },
    )
    text = siblings.to_state()
    assert len(text) < 60
    assert text_of_a not in text
    again = Siblings.read(text)
    assert again.to_state() == text
    odd = {
        **usual,
        "b": {"c": False, "d": 9},
    }
    assert odd_in(again, page_of(odd)) == ["b.c"]
    like_others = {
        **usual,
        "b": {"c": True, "d": 9},
    }
    assert odd_in(again, page_of(like_others)) == []
    without = {**usual}
    del without["a"]
    assert odd_in(again, page_of(without)) == ["a field that is missing"]


def test_the_text_in_the_state_is_bounded() -> None:
    pairs = product(ascii_lowercase, repeat=2)
    fields: Json = {}
    for one, other in islice(pairs, 500):
        fields[f"field {other}{one}"] = True
    siblings = taught(*3 * [fields])
    text = siblings.to_state()
    assert len(text) < 400
    assert Siblings.read(text).to_state() == text


@pytest.mark.parametrize(
    "content",
    [
        None,
        3,
        [],
        {},
        "",
        "4",
        "3x",
        "3fl ab",
        "3fl abcd!",
        "x" * 9_000,
    ],
)
def test_a_state_that_is_damaged_is_like_none(content: object) -> None:
    siblings = Siblings.read(content)
    assert siblings.to_state() == ""
    assert not siblings.has_pages


def test_a_response_without_a_body_counts_when_it_stays() -> None:
    siblings = taught({})
    raw = msgspec.Raw(b'"none"')
    empty = replace(
        Page.of(NO_RECORDS),
        other_fields={EMPTY_BODY: raw},
    )
    assert odd_in(siblings, empty) == [EMPTY_BODY]
    assert odd_in(siblings, empty, empty, empty) == []
    assert odd_in(siblings, empty) == []
    assert siblings.odd_names == [EMPTY_BODY]
