"""What the receipts of a run prove about the tables, over any course of events."""

import logging
from collections.abc import Iterator
from contextlib import closing
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import override

from tap_leadintent.singer.errors import RunError
from tap_leadintent.state_tool.changes import forget
from tap_leadintent.state_tool.plan import describe_plan
from tap_leadintent.times import format_interval, parse_instant, utc_timestamp
from tests.support.helpers import Json
from tests.support.model import (
    DAY,
    EPOCH,
    HOUR,
    Api,
    Lead,
    Row,
    Version,
    iso,
    second,
    steady,
)
from tests.support.model_runs import DEFAULTS, count_requests, run
from tests.support.warehouse import Result, Warehouse

CHECKED = {
    "leads": "latest_signal",
    "observations": "observed_at",
    "signal_agents": "all",
}
STREAMS = (*CHECKED, "loads")

LOOKBACK = 1800
NEWEST = (
    "stream IN ('leads', 'observations') AND run_began_at = "
    "(SELECT max(run_began_at) FROM tap_leadintent.loads) ORDER BY stream, time_range"
)
CONFIG = {
    "page_size": 5,
    "load_receipts": True,
    "lookback_days": LOOKBACK / DAY,
    "max_retries": 0,
    "concurrency": 1,
}


class Records(Api):
    """The model, whose leads also stand for observations and agents."""

    @override
    def _answer(self, rows: list[Row], after: str) -> tuple[int, Json]:
        status, page = super()._answer(rows, after)
        for record in page["data"]:
            record["observed_at"] = record["signal"]["observed_at"]
        return status, page


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Keep the log of hundreds of runs out of memory."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@st.composite
def histories(draw: st.DrawFn) -> list[Lead]:
    """Draw leads that appear late, and whose signals move."""
    drawn = []
    hours = st.integers(0, 40) | st.integers(-48, 144)
    for number, found_hour in enumerate(draw(st.lists(hours, max_size=20))):
        found = found_hour * HOUR + 0.5 * (number % 3)
        age = draw(st.sampled_from([0, 0, 60, 9 * DAY]))
        visible = found + draw(st.sampled_from([0, 0, 900, LOOKBACK]))
        versions = [Version(visible, found - age)]
        for later in draw(st.lists(st.integers(1, 90), max_size=2)):
            moved = versions[-1].shown_from + later * HOUR
            versions.append(Version(moved, moved))
        drawn.append(Lead(f"lead-{number}", found, versions))
    return drawn


def is_inside(stream: str, time: str | None, result: Result) -> bool:
    """Return whether a record counts for what the query compares."""
    if stream == "signal_agents":
        return True
    assert result.checked_from
    assert result.checked_to
    return bool(time) and result.checked_from <= str(time) < result.checked_to


def shown_by(api: Api, stream: str, result: Result) -> dict[str, str | None]:
    """Return the time of each record that the API shows, of those that count."""
    shown = {}
    for lead in api.leads:
        version = api.version(lead)
        if version is not None:
            time = utc_timestamp(iso(lead.versions[version].observed_at))
            if is_inside(stream, time, result):
                shown[lead.id] = time
    return shown


def rows_of(warehouse: Warehouse, stream: str) -> dict[str, tuple[str, str]]:
    """Return the time and the load time of each row of a table."""
    query = (
        "SELECT id, coalesce(signal_observed_at, observed_at), _sdc_extracted_at "
        f"FROM tap_leadintent.{stream}"
    )
    return {row[0]: row[1:] for row in warehouse.ask(query)}


def delete(warehouse: Warehouse, stream: str, name: str) -> None:
    """Delete a row by hand."""
    warehouse.ask(f"DELETE FROM tap_leadintent.{stream} WHERE id = '{name}'")


def assert_found(warehouse: Warehouse, api: Api) -> dict[str, Result]:
    """Assert that the query finds each loss of a run that was whole; return them."""
    results = warehouse.results()
    losses = {}
    for stream, time_range in CHECKED.items():
        result = results[stream, time_range]
        rows = rows_of(warehouse, stream)
        written = {}
        for record in warehouse.written[stream].values():
            time = record.get("signal_observed_at") or record.get("observed_at")
            if is_inside(stream, utc_timestamp(time), result):
                written[record["id"]] = utc_timestamp(record["_sdc_extracted_at"])
        lost = [name for name in written if rows.get(name, "")[-1:] != (written[name],)]
        assert (result.checked_records, result.arrived) == (
            len(written),
            len(written) - len(lost),
        )
        assert (result.result == "missing") == bool(lost), result
        if stream != "signal_agents":
            assert_reaches_back(warehouse, stream, result)
        if lost:
            losses[stream] = result
            continue
        # Otherwise, the table has all that the API shows.
        shown = shown_by(api, stream, result)
        arrived = {name: rows[name][0] for name in shown if name in rows}
        assert arrived.keys() == shown.keys()
        if stream == "signal_agents":
            assert result.result == "complete"
            continue
        assert arrived == shown
        inside = {name for name in rows if is_inside(stream, rows[name][0], result)}
        not_returned = inside - shown.keys()
        assert result.not_returned == len(not_returned)
        assert result.result == ("too many" if not_returned else "complete")
    return losses


def assert_reaches_back(warehouse: Warehouse, stream: str, result: Result) -> None:
    """Assert that the interval has all that was not covered when the run began."""
    assert result.checked_from
    first = next(
        m for m in warehouse.of_type("STATE") if stream in m["value"]["bookmarks"]
    )
    entries = first["value"]["bookmarks"][stream]["coverage"]
    ends = [each["to"] for each in entries if each.get("range") == CHECKED[stream]]
    if ends:
        assert result.checked_from <= str(utc_timestamp(max(ends)))


def forget_losses(warehouse: Warehouse, losses: dict[str, Result]) -> None:
    """Do what the page says about rows that are missing."""
    bookmarks = warehouse.state["bookmarks"]
    for stream, result in losses.items():
        if result.checked_from and result.checked_to:
            ends = (
                parse_instant(result.checked_from),
                parse_instant(result.checked_to),
            )
            bookmarks[stream] = forget(bookmarks[stream], stream, ends)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_each_loss_is_found_and_nothing_else_is_called_one(data: st.DataObject) -> None:
    api = Records(leads=data.draw(histories()))
    states = mock.patch("tap_leadintent.singer.stream._MIN_BETWEEN_STATES", 4)
    with closing(Warehouse()) as warehouse, states:
        has_lost = False
        for _ in range(data.draw(st.integers(2, 4))):
            api.now += data.draw(st.sampled_from([HOUR, 5 * HOUR, DAY, 3 * DAY]))
            if api.leads and data.draw(st.integers(0, 3)) == 0:
                gone = data.draw(st.sampled_from(api.leads))
                if data.draw(st.booleans()):
                    api.leads = [each for each in api.leads if each is not gone]
                for stream in data.draw(st.sets(st.sampled_from([*CHECKED]))):
                    delete(warehouse, stream, gone.id)
                    has_lost = True
            warehouse.lost_batches = data.draw(
                st.sampled_from([(), (), (), (), {1}, {2}, {3}, {1, 4}])
            )
            has_lost |= bool(warehouse.lost_batches)
            budget = data.draw(st.sampled_from([None, None, None, 9, 15]))
            killed_after = data.draw(st.none() | st.none() | st.integers(0, 60))
            finished = run(
                api,
                warehouse,
                CONFIG | ({"max_requests_per_run": budget} if budget else {}),
                selected=STREAMS,
                killed_after=killed_after,
            )
            receipts = [row["run_id"] for row in warehouse.written["loads"].values()]
            have_arrived = {
                row[0]
                for row in warehouse.ask("SELECT run_id FROM tap_leadintent.loads")
            }.issuperset(receipts)
            if not (finished and have_arrived):
                for result in warehouse.results().values():
                    assert has_lost or result.result != "missing"
                continue
            losses = assert_found(warehouse, api)
            if losses:
                forget_losses(warehouse, losses)
                warehouse.lost_batches = ()
                api.now += 60
                assert run(api, warehouse, CONFIG, selected=STREAMS)
                assert not assert_found(warehouse, api)
            has_lost = False


def test_the_number_of_requests_is_the_same() -> None:
    sent = []
    for has_receipts in (False, True):
        api = Records(leads=steady(100))
        with closing(Warehouse()) as warehouse:
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
    api = Records(leads=steady(100), now=100 * HOUR)
    config = DEFAULTS | CONFIG | {"filters": {}, "exclude_fields": {}}
    with closing(Warehouse()) as warehouse:
        for hours in (0, 1, 3, 30, 300):
            api.now += hours * HOUR
            now = EPOCH + int(api.now)
            planned: list[str] = []
            for stream in ("leads", "observations"):
                state = warehouse.state.get("bookmarks", {}).get(stream, {})
                planned += describe_plan(stream, config, state, (EPOCH, now))
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
            found = [line.strip() for line in planned if "loads then says" in line]
            assert [
                line[: len(e)] for line, e in zip(found, expected, strict=True)
            ] == expected


def test_with_a_hole_what_follows_it_is_compared() -> None:
    api = Records(leads=steady(100), now=100 * HOUR)
    api.broken = (50 * HOUR, 51 * HOUR)
    with closing(Warehouse()) as warehouse:
        with pytest.raises(RunError, match="each run tries again"):
            run(api, warehouse, CONFIG, selected=("leads", "loads"))
        warehouse.end()
        result = warehouse.results()["leads", "latest_signal"]
        assert second(51 * HOUR) < str(result.checked_from) < second(52 * HOUR)
        assert (result.checked_records, result.result) == (48, "complete")
        delete(warehouse, "leads", "lead-0060")
        result = warehouse.results()["leads", "latest_signal"]
        assert (result.arrived, result.result) == (47, "missing")
