"""What `recheck_days` promises, over any history and any course of runs."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tap_leadintent.singer.errors import RunError
from tests.support.model import DAY, HOUR, Api, Lead, Version, iso, second, steady
from tests.support.model_runs import entries, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("_quiet")


def test_a_cycle_reads_the_rows_once_and_each_day_its_share() -> None:
    # A year of four rows a day, then one run a day for thirty days and one.
    days, share = 30, 365 * 4 / 30
    api, store = Api(now=365 * DAY, leads=steady(365 * 4, 6 * HOUR)), Store()
    config = {"start_date": iso(0), "lookback_minutes": 60, "page_size": 10}
    run(api, store, config | {"recheck_days": days})
    again = []
    for _ in range(days + 1):
        api.now += DAY
        before = len(api.requests)
        run(api, store, config | {"recheck_days": days})
        # Of what is read again at most twice its full pages; two for the rest.
        assert len(api.requests) - before <= share / 10 * 2 + 2
        again += [message["record"]["id"] for message in store.of_type("RECORD")]
    # The first run only begins; a row on the edge of two slices is read with both.
    assert set(again) == {lead.id for lead in api.leads}
    assert len(again) == pytest.approx(365 * 4, rel=0.15)


@pytest.mark.parametrize("failing", range(3))
def test_a_run_that_is_interrupted_keeps_the_mark_for_the_next(failing: int) -> None:
    """It moves when all is read, which here are three requests."""

    def marks() -> list[str]:
        return [entry["rechecked"] for entry in entries(store) if "rechecked" in entry]

    api, store = Api(now=30 * DAY, leads=steady(200)), Store()
    config = {"start_date": iso(0), "recheck_days": 30}
    run(api, store, config)
    api.now += DAY
    api.forbidden_at = len(api.requests) + failing
    with pytest.raises(RunError, match="401"):
        run(api, store, config)
    assert marks() == [second(30 * DAY)]
    asked = len(api.requests)
    run(api, store, config)
    assert marks() == [second(31 * DAY)]
    assert len(api.requests) - asked == 3


instants = st.integers(-5 * 24, 12 * 24).map(lambda hours: hours * HOUR)


@st.composite
def leads(draw: st.DrawFn) -> list[Lead]:
    """Draw leads that surface however late, and change without a time that moves."""
    drawn = []
    for number, found in enumerate(draw(st.lists(instants, max_size=30))):
        late = draw(st.integers(0, 15 * 24)) * HOUR
        times = [found + late]
        times += [time for time in draw(st.lists(instants, max_size=1)) if time > late]
        versions = [Version(time, found) for time in sorted(times)]
        drawn.append(Lead(f"lead-{number}", found, versions))
    return drawn


@st.composite
def steps(draw: st.DrawFn) -> tuple[int, int | None, dict[str, Any]]:
    """Draw a run: the time before it, after what it is killed, its settings.

    It waits long enough for a whole recheck, or for a slice of one.
    """
    hours = draw(st.sampled_from([1, 5, 24, 24, 30, 70]))
    killed = draw(st.one_of(st.none(), st.none(), st.integers(0, 40)))
    config: dict[str, Any] = {
        "page_size": 3,
        "concurrency": draw(st.sampled_from([1, 4])),
        "lookback_minutes": draw(st.sampled_from([0, 60, 600])),
    }
    if draw(st.integers(0, 4)) == 0:
        config["window_days"] = draw(st.sampled_from([0.1, 1]))
    if draw(st.integers(0, 4)) == 0:
        config["end_date"] = iso(2 * DAY)
    return hours * HOUR + draw(st.integers(0, 1800)), killed, config


@pytest.mark.long
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    history=leads(),
    days=st.sampled_from([1, 2, 3]),
    course=st.lists(steps(), min_size=4, max_size=14),
    seconds=st.sampled_from([0, 0, 20]),
)
def test_a_record_visible_for_some_days_and_two_runs_has_been_loaded(
    history: list[Lead],
    days: int,
    course: list[tuple[int, int | None, dict[str, Any]]],
    seconds: int,
) -> None:
    api, store = Api(leads=history, seconds_per_request=seconds), Store()
    finished: list[float] = []
    for wait, killed_after, drawn in course:
        api.now += wait
        config = {**drawn, "recheck_days": days, "start_date": iso(0)}
        begun = api.now
        done = run(api, store, config, killed_after=killed_after)
        if not done or "end_date" in config:
            continue
        finished.append(begun)
        if len(finished) < 2:
            continue
        # Two runs that came to their end have begun since then.
        due = replace(api, now=finished[-2] - days * DAY).visible()
        asked = {lead.id for lead in api.leads if 0 <= lead.found_at < begun}
        late = {each for each in asked & {*due} if store.rows.get(each, -1) < due[each]}
        assert not late, store.state
