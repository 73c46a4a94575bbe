"""What a run asks for, and in which order it says so; `model` is the API."""

import pytest

from tap_leadintent.singer.errors import RunError
from tests.support.helpers import Json, leads_with
from tests.support.model import (
    DAY,
    HOUR,
    Api,
    lead,
    range_of,
    second,
    steady,
)
from tests.support.model_runs import CONFIG, DAILY, STRICT, asked, entries, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("concurrency")

BOTH = ("date_found", "latest_signal")


def covered(store: Store) -> list[tuple[str, str, str]]:
    """Return what the last STATE covers, each interval with its range."""
    found: list[tuple[str, str, str]] = []
    for entry in entries(store):
        interval = (entry["range"], entry["from"], entry["to"])
        found.append(interval)
    return found


def covered_days(
    name: str,
    first: int,
    last: int,
) -> Json:
    """Return an entry of a state that covers days of a range."""
    return {
        "range": name,
        "from": second(first * DAY),
        "to": second(last * DAY),
    }


def up_to(end: float) -> list[tuple[str, str, str]]:
    """Return what it covers where nothing is missing."""
    return [(name, second(0), second(end)) for name in BOTH]


def test_a_first_load_reads_what_was_found_or_had_a_signal_since_the_start_date(
    concurrency: int,
) -> None:
    before = lead(30, -9 * DAY, -9 * DAY, HOUR)
    api = Api(
        now=2 * DAY,
        leads=[*steady(20), before],
    )
    store = Store()
    run(api, store, CONFIG)
    assert store.rows == {
        **dict.fromkeys(store.rows, 0),
        before.id: 1,
    }
    assert len(store.rows) == 21
    assert len(store.of_type("RECORD")) == 21, "what both ranges show comes once"
    names = [name for name, _, _ in asked(api)]
    assert names[0] == "date_found"
    assert {*names} == {*BOTH}
    if concurrency == 1:
        assert names == sorted(names), "one range after the other"
    assert covered(store) == up_to(2 * DAY)


def test_the_second_before_a_window_is_requested_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """So what it holds is no sign that the API ignores the range."""
    api = Api(
        now=2 * DAY,
        leads=[lead(0, 2 * DAY - 1)],
    )
    store = Store()
    config = {**CONFIG, "lookback_days": 0}
    run(api, store, config)
    api.now += HOUR
    run(api, store, config)
    assert "outside the requested range" not in caplog.text


def test_a_later_run_makes_one_request_per_range_in_turn() -> None:
    api = Api(
        now=2 * DAY,
        leads=[lead(0, HOUR, HOUR, 3 * DAY)],
    )
    store = Store()
    run(api, store, CONFIG)
    asked(api)
    api.now = 4 * DAY
    run(api, store, CONFIG)
    assert store.rows == {"lead-0000": 1}
    begin = second(2 * DAY - 16 * HOUR - 1)
    end = second(4 * DAY)
    assert asked(api) == [
        ("date_found", begin, end),
        ("latest_signal", begin, end),
    ]


@pytest.mark.parametrize(
    ("start", "first"),
    [
        ("1970-01-01", "1970-01-01T00:00:00Z"),
        ("1969-02-01", "1969-01-31T23:59:59Z"),
    ],
)
def test_a_time_before_1970_is_asked_for_only_if_needed(start: str, first: str) -> None:
    api = Api(now=2 * DAY)
    config = {**STRICT, "start_date": start}
    run(api, Store(), config)
    requested = asked(api)
    begins = []
    for _, begin, end in requested:
        begins.append(begin)
        assert begin < end
    assert min(begins) == first


def test_the_first_state_of_a_full_refresh_takes_back_all_coverage() -> None:
    """Meltano merges it into the state of before, which has to go."""
    api = Api(
        now=2 * DAY,
        leads=steady(20),
    )
    store = Store()
    streams = ("leads", "observations", "signal_agents")
    run(api, store, CONFIG, selected=streams)
    assert store.messages[0] == {
        "type": "STATE",
        "value": {
            "bookmarks": {
                "leads": {"coverage": []},
                "observations": {"coverage": []},
            },
        },
    }


def test_a_full_table_is_one_chain_without_ranges_and_without_bookmark() -> None:
    api = Api(
        now=2 * DAY,
        leads=steady(35),
    )
    store = Store()
    full = leads_with(replication_method="FULL_TABLE")
    config = {**CONFIG, "window_days": 1}
    run(api, store, config, catalog=full)
    assert len(store.rows) == 35
    assert [set(body) for body in api.requests] == [{"cursor"}] * 4
    assert store.state["bookmarks"]["leads"].keys() <= {"fields", "envelope"}


# Order, and what comes again


def test_the_newest_of_several_signals_is_emitted_last() -> None:
    """Also where the first range has shown it before, so that it has not changed."""
    api = Api(
        now=9 * DAY,
        at_each_signal=True,
    )
    store = Store()
    api.leads = [
        lead(
            0,
            HOUR,
            *(n * DAY for n in range(1, 6)),
        )
    ]
    run(api, store, DAILY)
    versions = [row["additional_properties"]["version"] for row in store.records()]
    assert versions == [4, 0, 1, 2, 3, 4]


def test_an_interval_that_is_read_again_ends_the_complete_time() -> None:
    """A run that fails midway may have emitted an older signal last."""
    api = Api(
        now=9 * DAY,
        forbidden_at=4,
    )
    store = Store()
    coverage = [
        covered_days("date_found", 0, 9),
        covered_days("latest_signal", 0, 2),
        covered_days("latest_signal", 3, 9),
    ]
    store.state = {"bookmarks": {"leads": {"coverage": coverage}}}
    config = {**DAILY, "lookback_days": 0}
    with pytest.raises(RunError, match="401"):
        run(api, store, config)
    found, signal = covered(store)
    assert found[2] == second(9 * DAY)
    assert second(2 * DAY) < signal[2] < second(9 * DAY)


def test_a_key_over_id_and_signal_time_keeps_every_signal() -> None:
    api = Api(
        now=4 * DAY,
        leads=[lead(0, HOUR, HOUR, 3 * DAY)],
    )
    store = Store()
    api.at_each_signal = True
    history = leads_with(key_properties=["id", "signal_observed_at"])
    run(api, store, CONFIG, catalog=history)
    (schema,) = store.of_type("SCHEMA")
    assert schema["key_properties"] == ["id", "signal_observed_at"]
    newer, older = [record["signal_observed_at"] for record in store.records()]
    assert newer[:19] == second(3 * DAY)[:19]
    assert older[:19] == second(HOUR)[:19]


@pytest.mark.parametrize(
    "key",
    [[], ["signal_observed_at"]],
    ids=["none", "not one"],
)
def test_no_row_depends_on_the_key_that_a_catalog_declares(key: list[str]) -> None:
    leads = [lead(n, n * HOUR, 0) for n in range(40)]
    api = Api(
        now=2 * DAY,
        leads=leads,
    )
    store = Store()
    run(
        api,
        store,
        CONFIG,
        catalog=leads_with(key_properties=key),
    )
    assert store.rows.keys() == {one.id for one in leads}


# Clocks


@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("ahead", [3 * HOUR, -3 * HOUR])
def test_records_that_appear_during_a_request_are_read_by_the_next_run(
    ahead: int,
    *,
    refuses: bool,
) -> None:
    # Their signals are too old for the second range to find them.
    minutes = range(20 * 60, 27 * 60)
    leads = [lead(minute, minute * 60, -DAY) for minute in minutes]
    api = Api(
        now=DAY,
        leads=leads,
        refuses_the_future=refuses,
    )
    store = Store()
    for _ in range(3):
        run(api, store, STRICT, clock_ahead=ahead)
        end = entries(store)[0]["to"]
        found = {one.id for one in api.leads if second(one.found_at) < end}
        assert found <= set(store.rows)
        api.now += HOUR / 2
        api.seconds_to_query = api.seconds_to_respond = 65
    # It is up to the earlier of the two clocks.
    assert end >= second(DAY + HOUR / 2 + min(ahead, 0))


@pytest.mark.parametrize("ahead", [0, 3 * HOUR])
def test_a_server_that_refuses_the_future_is_read_up_to_its_own_time(
    ahead: int,
) -> None:
    api = Api(
        now=2 * DAY,
        leads=steady(100),
        refuses_the_future=True,
    )
    store = Store()
    for days in (2, 3):
        api.now = days * DAY
        run(api, store, STRICT, clock_ahead=ahead)
        assert covered(store) == up_to(api.now)
        for _, start, end in asked(api):
            assert start < end
    assert len(store.rows) == 73


def test_a_response_from_a_slow_clock_removes_no_coverage() -> None:
    api = Api(
        now=2 * DAY,
        leads=steady(300, 500),
    )
    store = Store()
    run(api, store, STRICT)
    api.now = 3 * DAY
    api.odd_clocks = dict.fromkeys(range(9), -700 * DAY)
    run(api, store, STRICT)
    assert covered(store) == up_to(2 * DAY)
    assert len(store.rows) == 300


# Servers that refuse or ignore what they are asked for


def test_a_server_that_refuses_the_future_does_not_ignore_ranges() -> None:
    """It is asked for a year from now, and must not answer for its own present."""
    leads = [lead(n, DAY - 1) for n in range(400)]
    api = Api(
        now=DAY,
        leads=leads,
        refuses_the_future=True,
    )
    store = Store()
    run(api, store, CONFIG)
    assert len(store.rows) == 400


@pytest.mark.parametrize("ignored", ["both ends", "the start"])
@pytest.mark.parametrize(
    # The last has fewer leads than a page holds.
    ("newest_first", "each"),
    [
        (True, HOUR),
        (False, HOUR),
        (False, 20 * DAY),
    ],
)
def test_a_server_that_ignores_a_range_is_noticed(
    ignored: str,
    *,
    newest_first: bool,
    each: int,
) -> None:
    api = Api(
        now=40 * DAY,
        leads=steady(60 * DAY // each, each),
    )
    store = Store()
    api.newest_first = newest_first
    api.ignores_start = True
    api.ignores_end = ignored == "both ends"
    with pytest.raises(RunError, match="load the stream completely in each run"):
        run(api, store, CONFIG)
    # Windows of seconds hold all records here, as no range bounds them. Two of them are
    # read to their ends before a third shows it, and readers that are free meanwhile
    # may have begun with the other range.
    assert len(api.requests) <= 2 * len(api.visible()) / 10 + 40


@pytest.mark.parametrize(
    ("widest", "status", "days"),
    [
        (7 * DAY, 400, 99),
        (7 * DAY, 504, 99),
        (HOUR, 413, 11),
        (HOUR, 422, 11),
    ],
)
def test_a_refused_range_is_requested_in_shorter_windows(
    widest: float,
    status: int,
    days: int,
) -> None:
    api = Api(
        now=days * DAY,
        widest=widest,
        too_wide=status,
    )
    store = Store()
    api.leads = steady(60, DAY / 6)
    config = {**CONFIG, "max_retries": 0}
    run(api, store, config)
    assert store.rows == {one.id: 0 for one in api.leads}
    assert covered(store) == up_to(days * DAY)
    # Eight at once may be refused for the same width, and after eight that were read, a
    # longer one is tried again.
    assert len(api.refused) <= 10 + 8 + len(api.requests) / 8


@pytest.mark.parametrize("ahead", [0, 3 * HOUR])
def test_a_server_that_refuses_every_range_gets_few_requests(ahead: int) -> None:
    """Also where its clock is behind, so that the range lies in its future."""
    api = Api(
        now=99 * DAY,
        leads=steady(60),
        widest=0,
    )
    store = Store()
    with pytest.raises(RunError, match=r"HTTP 422: .*refused"):
        run(api, store, CONFIG, clock_ahead=ahead)
    assert len(api.refused) <= 8 * 12
    lengths: set[float] = set()
    for body in api.refused:
        _, start, end = range_of(body)
        lengths.add(end - start)
    assert 61 in lengths, "a minute and the overlap"


@pytest.mark.parametrize("days", [1, 31])
def test_window_days_bounds_what_is_asked_for(days: int) -> None:
    api = Api(
        now=400 * DAY,
        leads=steady(60, DAY),
        widest=days * DAY,
    )
    store = Store()
    config = {**CONFIG, "window_days": days}
    run(api, store, config)
    assert len(store.rows) == 60
    longest = 0.0
    for body in api.requests:
        _, start, end = range_of(body)
        longest = max(longest, end - start)
    assert longest == days * DAY
    # What is asked only to compare it with a window may be twice as long.
    for body in api.refused:
        _, start, end = range_of(body)
        assert end - start == 2 * (days * DAY - 1) + 1
