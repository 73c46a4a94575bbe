"""What cannot be read is left out, and read by the first run that can."""

from dataclasses import dataclass

import pytest

from tap_leadintent.singer.errors import RunError
from tests.support.helpers import Json, where
from tests.support.model import (
    DAY,
    HOUR,
    Api,
    Lead,
    Version,
    lead,
    second,
    seconds_of,
    steady,
)
from tests.support.model_runs import CONFIG, entries, missing, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("concurrency")

BOTH = ("date_found", "latest_signal")
ONCE = {**CONFIG, "max_retries": 0}
HOLE = (30 * DAY, 30 * DAY + HOUR)


def covered(store: Store, name: str) -> list[tuple[str, str]]:
    """Return the intervals that the last STATE covers of a range."""
    named = where(entries(store), range=name)
    covering = [entry for entry in named if "hole" not in entry]
    return [(entry["from"], entry["to"]) for entry in covering]


def hole(store: Store, name: str) -> tuple[str, str]:
    """Return where the only hole of a range begins and ends."""
    (_, start), (end, _) = covered(store, name)
    return start, end


def failed_run(
    api: Api,
    store: Store,
    match: str,
    config: Json = ONCE,
) -> int:
    """Run the tap, which fails with these words, and count its requests."""
    before = sent(api)
    with pytest.raises(RunError, match=match):
        run(api, store, config)
    return sent(api) - before


def sent(api: Api) -> int:
    return len(api.requests) + len(api.refused)


@pytest.mark.parametrize("seconds", [0, HOUR, 10_000])
def test_a_time_that_cannot_be_read_stops_nothing_and_costs_little(
    seconds: int,
) -> None:
    broken = (30 * DAY, 30 * DAY + seconds)
    api = Api(
        now=60 * DAY,
        leads=steady(60 * 24 + 9),
    )
    store = Store()
    api.broken = broken
    failed_run(
        api,
        store,
        "each run tries again.*date_found from .*, latest_signal from",
    )
    # A hole is a minute long at least, and at most twice as long as what is broken.
    near = (broken[0] - 120, broken[1] + 120 + seconds)
    held = api.found_between(*near)
    assert store.rows.keys() >= api.visible().keys() - held
    assert len(api.refused) <= 2 * 45
    for _ in range(3):
        api.now += HOUR
        before = [hole(store, name) for name in BOTH]
        requests = failed_run(api, store, "what is missing")
        # The hole and its thirds, and what is read again: up to sixteen hours.
        most = 2 * (4 + 3)
        if before != [hole(store, name) for name in BOTH]:
            # A part of the hole could be read, so 30 days before it are read again.
            most += 2 * len(api.visible()) // 10
        assert requests <= most
        for name in BOTH:
            (_, hole_start), (hole_end, end) = covered(store, name)
            assert near[0] <= seconds_of(hole_start) <= broken[0]
            assert broken[1] <= seconds_of(hole_end) <= near[1]
            assert end == second(api.now)
    api.broken = None
    run(api, store, ONCE)
    assert store.rows == api.visible()
    for name in BOTH:
        assert covered(store, name) == [(second(0), second(api.now))]


def test_a_hole_in_the_lookback_is_read_again_when_the_lookback_has_moved_on() -> None:
    api = Api(
        now=60 * DAY,
        leads=steady(60 * 24),
    )
    store = Store()
    run(api, store, ONCE)
    late = 59.5 * DAY
    api.leads.append(
        Lead(
            "late",
            late,
            [Version(60.2 * DAY, 30 * DAY)],
        )
    )
    api.now = 61 * DAY
    api.broken = (late - 60, late + 60)
    failed_run(api, store, "what is missing")
    api.now = 63 * DAY
    api.broken = None
    run(api, store, ONCE)
    assert store.rows == api.visible()


def test_a_hole_at_the_end_of_the_last_run_does_not_hide_that_ranges_are_too_wide() -> (
    None
):
    api = Api(
        now=50 * DAY,
        leads=steady(60 * 24),
        widest=DAY,
        too_wide=504,
    )
    store = Store()
    config = {**ONCE, "lookback_days": 0}
    run(api, store, config)
    api.now = 55 * DAY
    api.broken = (50 * DAY, 50 * DAY)
    failed_run(api, store, "what is missing", config)
    assert store.rows == api.visible()


def test_a_hole_whose_first_page_can_be_read_brings_no_older_signal_back() -> None:
    api = Api(
        now=60 * DAY,
        at_each_signal=True,
        limit=10,
    )
    store = Store()
    for number in range(15):
        times = (30 * DAY, (40 + number) * DAY)
        one = Lead(
            id=f"lead-{number:02}",
            found_at=number * DAY,
            versions=[Version(time, time) for time in times],
        )
        api.leads.append(one)
    for _ in range(2):
        failed_run(api, store, "what is missing.*: latest_signal")
        assert store.rows == api.visible()
        api.now += HOUR


@dataclass
class WithBadPages(Api):
    """Of its broken time, the first page of a query can be read."""

    def respond(self, body: Json) -> tuple[int, Json]:
        if "after" in body["cursor"]:
            return super().respond(body)
        broken = self.broken
        self.broken = None
        response = super().respond(body)
        self.broken = broken
        return response


def test_rows_of_a_hole_are_not_written_again_by_each_run() -> None:
    """What can be read of it was written when it became a hole."""
    api = WithBadPages(
        now=60 * DAY,
        limit=10,
        leads=[lead(number, 30 * DAY) for number in range(30)],
        broken=(30 * DAY, 30 * DAY),
    )
    store = Store()
    written: list[int] = []
    for _ in range(3):
        failed_run(api, store, "what is missing")
        written.append(len(store.of_type("RECORD")))
        api.now += HOUR
    assert written[0]
    assert written[1:] == [0, 0]


@pytest.mark.parametrize("killed_after", [None, 1, 3, 30])
def test_the_newest_signal_comes_last_after_a_hole_is_filled(
    killed_after: int | None,
) -> None:
    """The hole may hold an older signal of leads that were read with a newer one."""
    inside = HOLE[0] + HOUR // 2
    api = Api(
        now=60 * DAY,
        at_each_signal=True,
        broken=HOLE,
    )
    store = Store()
    for number in range(20):
        found = number * DAY
        times = (found, inside, inside + found + DAY)
        one = Lead(
            id=f"lead-{number}",
            found_at=found,
            versions=[Version(time, time) for time in times],
        )
        api.leads.append(one)
    failed_run(api, store, "latest_signal from")
    assert store.rows == dict.fromkeys(store.rows, 2)
    api.now = 61 * DAY
    api.broken = None
    run(api, store, ONCE, killed_after=killed_after)
    run(api, store, ONCE)
    assert store.rows == api.visible()


@pytest.mark.parametrize("since", [-DAY, 400 * DAY])
def test_an_api_that_is_down_ends_the_stream_soon(since: float) -> None:
    api = Api(
        now=900 * DAY,
        leads=steady(900, DAY),
    )
    store = Store()
    api.broken = (since, 999 * DAY)
    for _ in range(2):
        failed_run(api, store, "HTTP 500: ")
        assert len(api.refused) <= 50
        assert store.rows.keys() == api.found_before(since)
        api.refused.clear()


@pytest.mark.parametrize("status", [400, 409, 413])
def test_a_refused_hour_stops_nothing(status: int) -> None:
    api = Api(
        now=60 * DAY,
        leads=steady(60 * 24 + 9),
        broken=HOLE,
    )
    store = Store()
    api.broken_with = status
    for _ in range(3):
        failed_run(api, store, f"what is missing.*date_found from .*HTTP {status}")
        near = (HOLE[0] - HOUR, HOLE[1] + HOUR)
        held = api.found_between(*near)
        assert store.rows.keys() >= api.visible().keys() - held
        api.now += HOUR


# Times that the API does not keep


class LastDays(Api):
    """It keeps the last ten days, to the second."""

    def respond(self, body: Json) -> tuple[int, Json]:
        self.keeps_from = self.now - 10 * DAY
        status, page = super().respond(body)
        return (self.broken_with if status != 200 else status), page


@pytest.mark.parametrize("status", [400, 403, 410])
def test_a_start_before_what_the_api_keeps_ends_the_stream_with_advice(
    status: int,
) -> None:
    api = LastDays(
        now=30 * DAY,
        leads=steady(40 * 24),
    )
    store = Store()
    api.seconds_per_request = 1
    api.broken_with = status
    text = rf"; set a later start_date .*HTTP {status}|HTTP {status}.*; set a later "
    config = {**ONCE, "page_size": 100}
    assert failed_run(api, store, text, config) <= 100
    assert not store.rows
    run(
        api,
        store,
        {
            **config,
            "start_date": second(api.now - 9 * DAY),
        },
    )
    assert len(store.rows) >= 9 * 24


# Limits


@pytest.mark.parametrize("seconds", [HOUR, 1])
def test_a_limit_of_records_divides_windows(seconds: int) -> None:
    leads = [lead(number, DAY + number // 40 * seconds) for number in range(400)]
    api = Api(
        now=9 * DAY,
        leads=leads,
        limit=150,
    )
    store = Store()
    run(api, store, ONCE)
    assert store.rows == api.visible()
    # Windows of one second read each record three times.
    assert sent(api) <= 2 * 40 * 8


def test_a_bad_second_at_the_start_of_a_run_hides_nothing_else() -> None:
    """Also while no request of the run has succeeded, and the range is short."""
    api = Api(
        now=10_688,
        leads=[lead(1, 1778)],
        broken=(3, 3),
    )
    store = Store()
    failed_run(api, store, "what is missing")
    assert store.rows == api.visible()


def test_a_long_hole_is_narrowed_by_each_run() -> None:
    api = Api(
        now=31 * DAY,
        leads=steady(31 * 24),
    )
    store = Store()
    api.broken = HOLE
    failed_run(api, store, "what is missing")
    api.broken = (HOLE[0] + 1800, HOLE[0] + 1800)
    for _ in range(6):
        api.now += HOUR
        cost = failed_run(api, store, "what is missing")
    # What follows is read again with each third that could be read, and then no more.
    assert cost <= 2 * (1 + 3)
    assert missing(api, store) <= 1


def test_two_holes_are_named_and_filled_one_by_one() -> None:
    api = Api(
        now=60 * DAY,
        leads=steady(60 * 24),
        broken=HOLE,
    )
    store = Store()
    failed_run(api, store, "what is missing")
    api.now = 63 * DAY
    api.broken = (61 * DAY, 61 * DAY)
    failed_run(api, store, "date_found from .*, latest_signal from")
    assert missing(api, store) <= 1
    for name in BOTH:
        assert len(covered(store, name)) == 2
