"""What the receipts of a run prove about the tables, over any course of events."""

import logging
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tap_leadintent.singer.errors import RunError
from tap_leadintent.state_tool.plan import describe_plan
from tap_leadintent.times import format_interval, parse_instant
from tests.support.deliveries import CONFIG, STREAMS, Records, play
from tests.support.helpers import lines_with
from tests.support.model import EPOCH, HOUR, Version, lead, second, steady
from tests.support.model_runs import DEFAULTS, count_requests, run
from tests.support.warehouse import MemoryWarehouse

NEWEST = (
    "stream IN ('leads', 'observations') AND run_began_at = "
    "(SELECT max(run_began_at) FROM tap_leadintent.loads) ORDER BY stream, time_range"
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Keep the log of hundreds of runs out of memory."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_each_loss_is_found_and_nothing_else_is_called_one(data: st.DataObject) -> None:
    with closing(MemoryWarehouse()) as warehouse:
        play(data, warehouse, 4)


def test_the_number_of_requests_is_the_same() -> None:
    sent = []
    for has_receipts in (False, True):
        api = Records(leads=steady(100))
        with closing(MemoryWarehouse()) as warehouse:
            api.now = 100 * HOUR
            for _ in range(4):
                assert run(
                    api,
                    warehouse,
                    # Within one page, readers cannot differ in their speed.
                    CONFIG | {"load_receipts": has_receipts, "page_size": 100},
                    selected=STREAMS,
                )
                sent.append(count_requests(api))
                api.now += 5 * HOUR
    assert sent[:4] == sent[4:]


def test_a_plan_says_what_the_next_run_proves() -> None:
    api = Records(
        leads=steady(100),
        now=100 * HOUR,
    )
    config = DEFAULTS | CONFIG | {"filters": {}, "exclude_fields": {}}
    with closing(MemoryWarehouse()) as warehouse:
        for hours in (0, 1, 3, 30, 300):
            api.now += hours * HOUR
            now = EPOCH + int(api.now)
            planned: list[str] = []
            for stream in ("leads", "observations"):
                state = warehouse.state.get("bookmarks", {}).get(stream, {})
                planned += describe_plan(
                    stream,
                    config,
                    state,
                    (EPOCH, now),
                )
            assert run(api, warehouse, CONFIG, selected=STREAMS)
            query = (
                "SELECT time_range, checked_from, checked_to FROM tap_leadintent.loads"
            )
            expected = []
            for name, start, end in warehouse.ask(f"{query} WHERE {NEWEST}"):
                ends = (parse_instant(start), parse_instant(end))
                what = f"{name} {format_interval(ends)}: loads then says how many rows"
                if name == "date_found":
                    what = "date_found: loads then says how many rows"
                expected.append(what)
            found = lines_with("loads then says", planned)
            for line, beginning in zip(found, expected, strict=True):
                assert line.strip().startswith(beginning)


def test_with_a_hole_what_follows_it_is_compared() -> None:
    api = Records(
        leads=steady(100),
        now=100 * HOUR,
    )
    api.broken = (50 * HOUR, 51 * HOUR)
    with closing(MemoryWarehouse()) as warehouse:
        with pytest.raises(RunError, match="each run tries again"):
            run(
                api,
                warehouse,
                CONFIG,
                selected=("leads", "loads"),
            )
        warehouse.end()
        result = warehouse.results()["leads", "latest_signal"]
        assert second(51 * HOUR) < str(result.checked_from) < second(52 * HOUR)
        assert result.checked_records == 48
        assert result.result == "complete"
        warehouse.delete("leads", "lead-0060")
        result = warehouse.results()["leads", "latest_signal"]
        assert result.arrived == 47
        assert result.result == "missing"


def test_after_a_killed_run_only_what_is_certain_is_missing() -> None:
    api = Records(
        leads=steady(30),
        now=30 * HOUR,
    )
    agents = ("signal_agents", "loads")
    with closing(MemoryWarehouse()) as warehouse:
        assert run(api, warehouse, CONFIG, selected=agents)
        api.now += HOUR
        for number in (97, 98, 99):
            new = lead(number, number * HOUR)
            new.versions = [Version(api.now, api.now)]
            api.leads.append(new)
        assert not run(
            api,
            warehouse,
            CONFIG,
            selected=agents,
            killed_after=12,
        )
        # The loader gets what the killed run has written: three new agents, and seven
        # that the complete run has written, too.
        warehouse.end()
        rows = warehouse.table("signal_agents")
        newest = max(written_at for _, written_at in rows.values())
        older = [name for name in rows if rows[name][1] < newest]
        assert len(rows) == 33
        assert len(older) == 23
        found = []
        for name in older[:6]:
            (result,) = warehouse.results().values()
            found.append(result.result)
            warehouse.delete("signal_agents", name)
        assert found == ["not known"] * 4 + ["missing"] * 2
