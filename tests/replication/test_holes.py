"""What cannot be read is left out, and read by the first run that can."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tap_leadintent.singer.errors import RunError
from tests.support.model import DAY, HOUR, Api, Lead, Version, lead, second, steady
from tests.support.model_runs import CONFIG, asked, entries, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("concurrency")

BOTH = ("date_found", "latest_signal")
ONCE = {**CONFIG, "max_retries": 0}
HOLE = (30 * DAY, 30 * DAY + HOUR)


def covered(store: Store, name: str) -> list[tuple[str, str]]:
    """Return the intervals that the last STATE covers of a range."""
    named = [entry for entry in entries(store) if entry.get("range") == name]
    return [(entry["from"], entry["to"]) for entry in named]


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the runs log."""
    caplog.set_level("ERROR")
    return caplog


def failed_run(
    api: Api,
    store: Store,
    log: pytest.LogCaptureFixture,
    match: str,
    config: Mapping[str, Any] = ONCE,
) -> int:
    """Run the tap, which fails with these words, and count its requests."""
    log.clear()
    before = len(api.requests) + len(api.refused)
    with pytest.raises(RunError):
        run(api, store, config)
    assert re.search(match, log.text)
    return len(api.requests) + len(api.refused) - before


@pytest.mark.parametrize("seconds", [0, 1, HOUR, 2 * HOUR])
def test_a_time_that_cannot_be_read_stops_nothing_and_costs_little(
    log: pytest.LogCaptureFixture,
    seconds: int,
) -> None:
    broken = (30 * DAY, 30 * DAY + seconds)
    api, store = Api(now=60 * DAY, leads=steady(60 * 24 + 9)), Store()
    api.broken = broken
    failed_run(
        api, store, log, "date_found from .*, latest_signal from .*each run tries"
    )
    shown = {one.id for one in api.leads if one.found_at <= api.now}
    held = {one.id for one in api.leads if broken[0] <= one.found_at <= broken[1]}
    assert store.rows.keys() == shown - held
    assert len(api.refused) <= 2 * 45
    for _ in range(3):
        api.now += HOUR
        # Five pages of lookback in each range, and the hole.
        assert failed_run(api, store, log, "could not read") <= 2 * (5 + 4)
        for name in BOTH:
            assert covered(store, name) == [
                # Windows overlap by a second, and a range includes its ends.
                (second(0), second(broken[0] - 1)),
                (second(broken[1] + 2), second(api.now)),
            ]
    api.broken = None
    run(api, store, ONCE)
    assert store.rows == api.visible()
    assert [covered(store, name) for name in BOTH] == [
        [(second(0), second(api.now))]
    ] * 2


def test_two_holes_are_named_and_filled_one_by_one(
    log: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24), broken=HOLE), Store()
    failed_run(api, store, log, "could not read")
    api.now, api.broken = 63 * DAY, (61 * DAY, 61 * DAY)
    failed_run(api, store, log, f"{second(61 * DAY - 1)} to {second(61 * DAY + 2)}")
    assert store.rows == api.visible()
    assert [len(covered(store, name)) for name in BOTH] == [2, 2]


def test_a_hole_in_the_lookback_is_read_again_when_the_lookback_has_moved_on(
    log: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24)), Store()
    run(api, store, ONCE)
    late = 59.5 * DAY
    api.leads.append(Lead("late", late, [Version(60.2 * DAY, 30 * DAY)]))
    api.now, api.broken = 61 * DAY, (late - 60, late + 60)
    failed_run(api, store, log, "could not read")
    api.now, api.broken = 63 * DAY, None
    run(api, store, ONCE)
    assert store.rows == api.visible()


@dataclass
class ShortList(Api):
    """Its list without a time range has the last days only, and one record fails."""

    days: int = 40
    poison: str = ""

    def respond(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, page = super().respond(body)
        is_bad = any(each["id"] == self.poison for each in page.get("data", ()))
        return (500, {}) if is_bad else (status, page)

    def _rows(
        self, name: str, start: float, end: float, body: dict[str, Any]
    ) -> list[tuple[float, str, int, float]]:
        rows = super()._rows(name, start, end, body)
        return [row for row in rows if name or row[0] >= self.now - self.days * DAY]


def test_a_hole_in_what_a_list_left_out_is_read_by_the_next_run(
    log: pytest.LogCaptureFixture,
) -> None:
    api, store = ShortList(now=100 * DAY, leads=steady(2400)), Store()
    api.poison = "lead-0720"
    config = {"page_size": 100, "max_retries": 0}
    failed_run(api, store, log, "could not read date_found", config)
    assert store.rows != api.visible()
    api.now, api.poison = 101 * DAY, ""
    run(api, store, config)
    assert store.rows == api.visible()


def test_an_empty_list_is_not_taken_for_everything() -> None:
    api, store = ShortList(now=100 * DAY, leads=[lead(1, 90 * DAY)], days=5), Store()
    run(api, store, {})
    assert store.rows == api.visible()


def test_a_hole_at_the_end_of_the_last_run_does_not_hide_that_ranges_are_too_wide(
    log: pytest.LogCaptureFixture,
) -> None:
    api = Api(now=50 * DAY, leads=steady(60 * 24), widest=DAY, too_wide=504)
    store = Store()
    config = {**ONCE, "lookback_minutes": 0}
    run(api, store, config)
    api.now, api.broken = 55 * DAY, (50 * DAY, 50 * DAY)
    failed_run(api, store, log, "could not read", config)
    assert store.rows == api.visible()


def test_a_hole_whose_first_page_can_be_read_brings_no_older_signal_back(
    log: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=60 * DAY, at_each_signal=True, limit=10), Store()
    for number in range(15):
        times = (30 * DAY, (40 + number) * DAY)
        versions = [Version(time, time) for time in times]
        api.leads.append(Lead(f"lead-{number:02}", number * DAY, versions))
    for _ in range(2):
        failed_run(api, store, log, "could not read latest_signal")
        assert store.rows == api.visible()
        api.now += HOUR


@pytest.mark.parametrize("killed_after", [None, 1, 3, 30])
def test_the_newest_signal_comes_last_after_a_hole_is_filled(
    log: pytest.LogCaptureFixture,
    killed_after: int | None,
) -> None:
    """The hole may hold an older signal of leads that were read with a newer one."""
    inside = HOLE[0] + HOUR // 2
    api, store = Api(now=60 * DAY, at_each_signal=True, broken=HOLE), Store()
    for number in range(20):
        times = (number * DAY, inside, inside + (number + 1) * DAY)
        versions = [Version(time, time) for time in times]
        api.leads.append(Lead(f"lead-{number}", number * DAY, versions))
    failed_run(api, store, log, "latest_signal from")
    assert store.rows == dict.fromkeys(store.rows, 2)
    api.now, api.broken = 61 * DAY, None
    run(api, store, ONCE, killed_after=killed_after)
    run(api, store, ONCE)
    assert store.rows == api.visible()


@pytest.mark.parametrize("since", [-DAY, 400 * DAY])
def test_an_api_that_is_down_ends_the_stream_soon(
    log: pytest.LogCaptureFixture, since: float
) -> None:
    api, store = Api(now=900 * DAY, leads=steady(900, DAY)), Store()
    api.broken = (since, 999 * DAY)
    for _ in range(2):
        failed_run(api, store, log, "HTTP 500: ")
        assert len(api.refused) <= 50
        assert {*store.rows} == {one.id for one in api.leads if one.found_at < since}
        api.refused.clear()


@pytest.mark.parametrize("status", [400, 409, 413])
def test_a_refused_hour_stops_nothing(
    log: pytest.LogCaptureFixture, status: int
) -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24 + 9), broken=HOLE), Store()
    api.broken_with = status
    for _ in range(3):
        failed_run(api, store, log, f"could not read date_found from .*HTTP {status}")
        shown = {one.id for one in api.leads if one.found_at <= api.now}
        near = (HOLE[0] - HOUR, HOLE[1] + HOUR)
        held = {one.id for one in api.leads if near[0] <= one.found_at <= near[1]}
        assert store.rows.keys() >= shown - held
        api.now += HOUR


def test_the_mark_of_a_recheck_waits_for_what_cannot_be_read(
    log: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24)), Store()
    config = {**ONCE, "recheck_days": 1}
    run(api, store, config)
    api.leads.append(Lead("late", HOLE[0], [Version(api.now + 1, HOLE[0])]))
    api.now, api.broken = 62 * DAY, HOLE
    with pytest.raises(RunError):
        run(api, store, config)
    assert "could not read date_found" in log.text
    assert entries(store)[-1]["rechecked"] == second(60 * DAY)
    api.now, api.broken = api.now + HOUR, None
    run(api, store, config)
    assert store.rows == api.visible()
    assert entries(store)[-1]["rechecked"] == second(api.now)


# Times that the API does not keep


@pytest.mark.parametrize(
    ("kept", "each"), [(5400, False), (20 * DAY + 1234, False), (5400, True)]
)
def test_a_start_before_what_the_api_keeps_reads_the_rest(
    log: pytest.LogCaptureFixture, kept: int, *, each: bool
) -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24), keeps_from=kept), Store()
    api.at_each_signal = each
    hole = rf"{second(0)} to {second(kept)} \(HTTP 400: .*start_date to {second(kept)}"
    failed_run(api, store, log, hole)
    assert store.rows == {one.id: 0 for one in api.leads if one.found_at >= kept}
    for _ in range(2):
        api.now += HOUR
        assert failed_run(api, store, log, hole) <= 2 * (5 + 22)
        for name in BOTH:
            assert covered(store, name) == [(second(kept), second(api.now))]


def test_a_refused_time_soon_after_the_first_kept_instant_stops_nothing(
    log: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24)), Store()
    api.keeps_from, api.broken = 30 * DAY, (30 * DAY + 1800, 30 * DAY + 1900)
    api.broken_with = 400
    failed_run(api, store, log, "could not read date_found .* latest_signal")
    found_later = {one.id for one in api.leads if one.found_at >= 30 * DAY + HOUR}
    assert store.rows.keys() == found_later


class LastDays(Api):
    """It keeps the last ten days, to the second."""

    def respond(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.keeps_from = self.now - 10 * DAY
        status, page = super().respond(body)
        return (self.broken_with if status != 200 else status), page


@pytest.mark.parametrize("status", [400, 403, 410])
@pytest.mark.parametrize("recheck_days", [None, 1])
def test_what_is_kept_may_move_on_with_each_request(
    log: pytest.LogCaptureFixture, status: int, recheck_days: int | None
) -> None:
    api, store = LastDays(now=30 * DAY, leads=steady(40 * 24)), Store()
    api.seconds_per_request, api.broken_with = 1, status
    config = {**ONCE, "page_size": 100, "recheck_days": recheck_days}
    for _ in range(2):
        kept = api.now - 10 * DAY + HOUR
        asked_for = failed_run(api, store, log, "could not read date_found", config)
        found = {one.id for one in api.leads if kept <= one.found_at <= api.now - HOUR}
        assert store.rows.keys() >= found
        assert asked_for <= 150
        api.now += DAY


def test_a_start_that_is_the_first_kept_instant_works() -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24), keeps_from=0), Store()
    for _ in range(2):
        run(api, store, ONCE)
        assert store.rows == api.visible()
        api.now += HOUR
    starts = {start for name, start, _ in asked(api) if name == "date_found"}
    assert min(starts) == second(0)


def test_the_first_kept_instant_works_with_a_clock_that_is_ahead() -> None:
    """The window is cut to the server's time, and asks for no earlier second then."""
    api, store = Api(now=600, leads=steady(10, 60), keeps_from=0), Store()
    api.refuses_the_future = True
    # With coverage inside the lookback, all of the time is one window, and so short a
    # window is not divided.
    ends = {"from": second(100), "to": second(200)}
    coverage = [{"range": name, **ends} for name in BOTH]
    store.state = {"bookmarks": {"leads": {"coverage": coverage}}}
    run(api, store, ONCE, clock_ahead=600)
    assert store.rows == api.visible()


def test_a_refusal_costs_few_requests_beside_many_holes(
    log: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24)), Store()
    ends = [(day * DAY, day * DAY + 23 * HOUR) for day in range(59)]
    coverage = [
        {"range": name, "from": second(start), "to": second(end)}
        for name in BOTH
        for start, end in ends
    ]
    store.state = {"bookmarks": {"leads": {"coverage": coverage}}}
    api.keeps_from = 60 * DAY
    assert failed_run(api, store, log, "HTTP 400") <= 2 * 15


def test_a_recheck_of_what_is_not_kept_any_more_does_not_fail() -> None:
    api, store = Api(now=60 * DAY, leads=steady(60 * 24)), Store()
    config = {**ONCE, "recheck_days": 2}
    run(api, store, config)
    api.leads.append(Lead("late", 50 * DAY, [Version(api.now + 1, 50 * DAY)]))
    for days in (62, 64):
        api.now, api.keeps_from = days * DAY, 40 * DAY
        run(api, store, config)
        assert entries(store)[-1]["rechecked"] == second(api.now)
    assert store.rows == api.visible()


# Limits


@pytest.mark.parametrize("seconds", [HOUR, 1])
def test_a_limit_of_records_divides_windows(seconds: int) -> None:
    leads = [lead(number, DAY + number // 40 * seconds) for number in range(400)]
    api, store = Api(now=9 * DAY, leads=leads, limit=150), Store()
    run(api, store, ONCE)
    assert store.rows == api.visible()
    # Windows of one second read each record three times.
    assert len(api.requests) + len(api.refused) <= 2 * 40 * 7
