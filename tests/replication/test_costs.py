"""What odd histories and odd APIs cost, in requests; nothing of them is lost."""

import gc
import tracemalloc
from dataclasses import dataclass, field
from math import ceil

import pytest

from tap_leadintent.singer.errors import RunError
from tests.support.helpers import Json
from tests.support.model import (
    DAY,
    HOUR,
    Api,
    Lead,
    Version,
    lead,
    range_of,
    steady,
)
from tests.support.model_runs import count_requests as count
from tests.support.model_runs import run
from tests.support.store import Store

FULL = {"page_size": 100}
"""Settings as most users have them."""


@dataclass
class OddApi(Api):
    """An API that answers in an odd way."""

    whole_days: bool = False
    """Whether it rounds ranges to whole days."""
    cap: int = 0
    """After so many records, it ends a query without a word; 0 for never."""
    promises: bool = False
    """Whether it promises another page after each that holds records."""
    served: int = 0
    """The most records of a page; it reckons with the size that was asked for when it
    says that there is no more. 0 for as many as asked for."""
    largest: int = 100
    """The most records of a page; it reckons with them."""
    bad: frozenset[str] = frozenset()
    """Leads of which the page that holds them fails."""
    failing: list[int] = field(default_factory=list)
    """Status of the next responses."""

    def respond(self, body: Json) -> tuple[int, Json]:
        if self.failing:
            self.refused.append(body)
            return self.failing.pop(0), {}
        name, start, end = range_of(body)
        if self.whole_days:
            start = start // DAY * DAY
            end = end // DAY * DAY + DAY - 1
        rows = self._rows(name, start, end, body)
        rows.sort(reverse=self.newest_first)
        rows = rows[: self.cap or None]
        asked = min(self.largest, body["cursor"]["limit"])
        offset = int(body["cursor"].get("after", 0))
        page = rows[offset:][: self.served or asked]
        if self.bad & {id_ for _, id_, *_ in page}:
            self.refused.append(body)
            return 500, {}
        self.requests.append(body)
        has_more = bool(page) if self.promises else offset + asked < len(rows)
        after = str(offset + len(page)) if has_more else ""
        return self._answer(page, after)


def loaded(
    api: OddApi,
    config: Json,
    runs: int = 3,
) -> list[int]:
    """Run every hour, and return the requests of each run; nothing may be missing."""
    store = Store()
    costs = list[int]()
    for _ in range(runs):
        run(
            api,
            store,
            {**FULL, **config},
        )
        costs.append(count(api))
        assert store.rows.keys() == api.visible().keys()
        api.now += HOUR
    return costs


def nights(number: int, each: int) -> list[Lead]:
    """Return leads that are found in one second of each night."""
    leads: list[Lead] = []
    for night in range(number):
        found = night * DAY + 2 * HOUR
        leads += at_once(each, found, first=night * each)
    return leads


def at_once(
    number: int,
    found: float,
    first: int = 10_000,
) -> list[Lead]:
    return [lead(first + n, found) for n in range(number)]


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_quota_of_exactly_a_page_a_night(
    caplog: pytest.LogCaptureFixture,
    concurrency: int,
) -> None:
    api = OddApi(
        now=60 * DAY + HOUR,
        leads=nights(65, 100),
    )
    first, *later = loaded(
        api,
        {"concurrency": concurrency},
        runs=4,
    )
    assert first <= 450
    assert max(later) <= 12
    assert "ended after" not in caplog.text


@pytest.mark.parametrize(
    ("largest", "quota"),
    [
        (25, 50),
        (50, 50),
        (50, 97),
        (100, 50),
        (100, 97),
        (100, 100),
    ],
)
def test_quotas_cost_at_most_twice_a_plain_chain(
    largest: int,
    quota: int,
) -> None:
    """Their pages are often full, or of one size, as if more had been cut off."""
    api = OddApi(
        now=60 * DAY + HOUR,
        leads=nights(60, quota),
        largest=largest,
    )
    first, later = loaded(api, {"concurrency": 8}, runs=2)
    plain = ceil(60 * quota / largest)
    assert first <= 2 * 2 * plain
    assert later == 2


@pytest.mark.parametrize("older", [10, 3_000])
def test_a_thousand_leads_in_one_second_of_a_scheduled_run(older: int) -> None:
    api = OddApi(
        now=60 * DAY,
        leads=steady(older, 60 * DAY / older),
    )
    store = Store()
    run(api, store, FULL)
    api.leads = [
        *api.leads,
        *at_once(1000, 60 * DAY + 1777),
    ]
    api.now += HOUR
    count(api)
    run(api, store, FULL)
    assert count(api) <= 40
    assert store.rows.keys() == api.visible().keys()


def test_a_crowded_second_alone_is_compared_with_a_wider_query_once() -> None:
    api = OddApi(
        now=90 * DAY,
        leads=at_once(100, 45 * DAY + 1777),
    )
    store = Store()
    config = {**FULL, "concurrency": 1}
    run(api, store, config)
    wide = [body for body in api.requests if _days(body) > 29]
    first_pages = [body for body in wide if "after" not in body["cursor"]]
    # One of the first windows of each range is as wide, too.
    assert len(first_pages) <= 2 * 2
    assert store.rows.keys() == api.visible().keys()


@pytest.mark.parametrize("served", [30, 100])
def test_a_page_that_is_not_full_is_asked_for_again_once(served: int) -> None:
    """In pages of its size; a larger one or this answer shows that it is whole."""
    api = OddApi(
        now=DAY,
        leads=[],
        served=served,
    )
    store = Store()
    config = {**FULL, "concurrency": 1, "lookback_days": 0}
    run(api, store, config)
    limits: list[list[int]] = []
    for new in (20, 19, 30, 80):
        api.requests.clear()
        api.leads = [lead(n, api.now + n) for n in range(new)]
        api.now += HOUR
        run(api, store, config)
        limits.append([body["cursor"]["limit"] for body in api.requests])
        assert store.rows.keys() >= api.visible().keys()
    assert limits[:2] == [[100, 20, 100], [100, 100]]
    if served == 100:
        assert limits[2:] == [[100, 30, 100], [100, 80, 100]]
    else:
        # The second page tells enough; then the first way is tried once more.
        assert limits[3][:4] == [100, 30, 30, 100]


def test_a_record_that_appears_meanwhile_does_not_make_a_page_small() -> None:
    api = OddApi(
        now=DAY,
        leads=[],
        seconds_per_request=10,
    )
    store = Store()
    config = {**FULL, "concurrency": 1, "lookback_days": 0}
    run(api, store, config)
    found = api.now
    api.now += HOUR
    late = lead(20, found + 20)
    late.versions = [Version(api.now + 5, found + 20)]
    api.leads = [*at_once(20, found + 10, first=0), late]
    api.requests.clear()
    run(api, store, config)
    limits = [body["cursor"]["limit"] for body in api.requests]
    assert limits[:4] == [100, 20, 20, 100]
    (about, *_) = store.state["bookmarks"]["leads"]["coverage"]
    assert "page" not in about


def _days(body: Json) -> float:
    _, start, end = range_of(body)
    return (end - start) / DAY


@pytest.mark.parametrize(
    ("failures", "max_retries"),
    [
        (2, 1),
        (10, 1),
        (10, 8),
    ],
)
def test_bad_gateways_at_the_start(failures: int, max_retries: int) -> None:
    """Either the run goes on, or it fails soon and clearly."""
    leads = [lead(n, n * 16 * DAY) for n in range(60)]
    api = OddApi(
        now=1000 * DAY,
        leads=leads,
        failing=[502] * failures,
    )
    store = Store()
    config = {**FULL, "max_retries": max_retries}
    while api.failing:
        try:
            run(api, store, config)
        except RunError:
            assert count(api) <= 60
    run(api, store, config)
    assert count(api) <= 400
    assert store.rows.keys() == api.visible().keys()


@pytest.mark.parametrize("newest_first", [True, False])
def test_whole_days(*, newest_first: bool) -> None:
    """Of ten pages each."""
    leads = steady(1200, DAY / 100)
    api = OddApi(
        now=12 * DAY - 1,
        leads=leads,
        whole_days=True,
    )
    api.newest_first = newest_first
    first, *_ = loaded(
        api,
        {"page_size": 10},
        runs=1,
    )
    assert first <= 2 * 5 * 120


@pytest.mark.parametrize(
    ("page_size", "newest_first"),
    [
        (75, True),
        (60, False),
        (100, True),
        (100, False),
    ],
)
@pytest.mark.parametrize("promises", [False, True])
def test_a_query_that_ends_in_silence(
    page_size: int,
    *,
    promises: bool,
    newest_first: bool,
) -> None:
    """After 500 records: within a page, or at the end of one."""
    leads = [
        *steady(900, 300),
        *at_once(450, DAY),
        *steady(900, 60),
    ]
    leads = [lead(n, one.found_at) for n, one in enumerate(leads)]
    api = OddApi(
        now=60 * DAY,
        leads=leads,
        cap=500,
        promises=promises,
    )
    api.newest_first = newest_first
    loaded(
        api,
        {"page_size": page_size},
        runs=2,
    )


def test_a_query_that_ends_in_silence_with_an_empty_page() -> None:
    """The page before it is full, as at any limit that is a multiple of its size."""
    api = OddApi(
        now=9 * DAY,
        leads=[lead(0, DAY)],
        cap=20,
        promises=True,
    )
    store = Store()
    config = {**FULL, "page_size": 10}
    run(api, store, config)
    new = [lead(1 + n, api.now + 10 * n) for n in range(25)]
    api.leads = [*api.leads, *new]
    api.now += HOUR
    run(api, store, config)
    assert store.rows.keys() == api.visible().keys()


@pytest.mark.parametrize("served", [30, 40, 50])
def test_pages_of_half_the_size_with_a_wrong_promise(served: int) -> None:
    api = OddApi(
        now=9 * DAY,
        leads=steady(900, 900),
        served=served,
    )
    store = Store()
    run(api, store, FULL)
    for hour in range(4):
        first = 2000 + 60 * hour
        new = []
        for number in range(60):
            found_at = api.now + 30 * number
            new.append(lead(first + number, found_at))
        api.leads = [*api.leads, *new]
        api.now += HOUR
        run(api, store, FULL)
        assert store.rows.keys() == api.visible().keys()


def test_a_hole_whose_first_page_can_be_read() -> None:
    leads = [
        *steady(500, HOUR),
        *at_once(300, 9 * DAY + 5),
    ]
    plain = loaded(
        OddApi(
            now=20 * DAY,
            leads=leads,
        ),
        {"max_retries": 1},
    )
    api = OddApi(
        now=20 * DAY,
        leads=leads,
    )
    store = Store()
    api.bad = frozenset({"lead-10100"})
    config = {**FULL, "max_retries": 1}
    for number, most in enumerate(plain):
        with pytest.raises(RunError, match="what is missing"):
            run(api, store, config)
        # The first run looks for it, by seconds.
        assert count(api) <= most + (50 if number else 200)
        api.now += HOUR
    assert len(store.rows) >= 480


def test_twenty_bad_records_in_later_runs() -> None:
    bad = frozenset(f"lead-{n:04}" for n in range(100, 2500, 120))
    api = OddApi(
        now=500 * DAY,
        leads=steady(2500, DAY / 5),
        bad=bad,
    )
    store = Store()
    config = {**FULL, "max_retries": 1}
    for number in range(2):
        with pytest.raises(RunError, match="what is missing"):
            run(api, store, config, selected=("observations",))
        assert count(api) <= (30 if number else 1700)
        assert store.rows.keys() == api.visible().keys() - bad
        api.now += HOUR


def test_times_that_are_hours_off_are_said(caplog: pytest.LogCaptureFixture) -> None:
    api = OddApi(
        now=20 * DAY,
        leads=steady(500, HOUR),
        hours_off=2,
    )
    loaded(api, {}, runs=1)
    assert "outside the requested range of latest_signal" in caplog.text


@pytest.mark.parametrize(
    ("first", "most"),
    [
        # What is written before another machine answers is read again.
        pytest.param(0, 8, id="it answers first"),
        pytest.param(1, 0, id="it does not answer first"),
    ],
)
def test_one_machine_with_an_odd_clock_costs_little(
    first: int,
    most: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    plain = OddApi(
        now=20 * DAY,
        leads=steady(500, HOUR),
    )
    odd = OddApi(
        now=20 * DAY,
        leads=steady(500, HOUR),
    )
    odd.odd_clocks = dict.fromkeys(range(first, 999, 20), -300 * DAY)
    one = {"concurrency": 1}
    pairs = zip(loaded(odd, one), loaded(plain, one), strict=True)
    for taken, usual in pairs:
        assert usual <= taken <= usual + most
    assert caplog.text.count("machines of the API have different clocks") == 3


@pytest.mark.parametrize("status", [500, 503, 408])
# Each of eight readers may have a request that waits when the first two streams end.
@pytest.mark.parametrize(
    ("concurrency", "most"),
    [
        (1, 12),
        (8, 11 + 2 * 8),
    ],
)
def test_an_api_that_is_down_ends_the_run_soon(
    concurrency: int,
    most: int,
    status: int,
) -> None:
    api = OddApi(
        now=20 * DAY,
        failing=[status] * 999,
    )
    store = Store()
    api.seconds_per_request = 2
    streams = ("leads", "observations", "signal_agents")
    with pytest.raises(RunError):
        run(
            api,
            store,
            {"concurrency": concurrency},
            selected=streams,
        )
    assert count(api) <= most


@pytest.mark.parametrize("status", [500, 200])
def test_refused_bodies_are_not_kept(status: int) -> None:
    @dataclass
    class Verbose(Api):
        def respond(self, body: Json) -> tuple[int, Json]:
            found, page = super().respond(body)
            if found == 200:
                return 200, page
            return status, {"x": "a" * 1_000_000}

    api = Verbose(
        now=90 * DAY,
        leads=steady(90 * 24),
        broken=(9 * DAY, 9 * DAY + HOUR),
    )
    # What only its collector would free could fill the memory before that runs.
    gc.disable()
    tracemalloc.start()
    config = {
        **FULL,
        "max_retries": 0,
        "concurrency": 8,
    }
    try:
        with pytest.raises(RunError, match="what is missing"):
            run(api, Store(), config)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert len(api.refused) >= 40
    # Each of the eight readers may have one, in three forms.
    assert peak < 30 * 1_000_000
