"""What replication promises, over any history and any course of events."""

from contextlib import suppress
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tap_leadintent.singer.errors import RunError
from tap_leadintent.state_tool.changes import forget
from tap_leadintent.state_tool.document import StateError
from tests.support.helpers import Json
from tests.support.model import DAY, EPOCH, HOUR, Api, Lead, Version, iso, seconds_of
from tests.support.model_runs import run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("_quiet")

HORIZON = 6 * DAY

odd = st.sampled_from(
    [
        -700 * DAY,
        -5 * HOUR,
        5 * HOUR,
    ]
)
"""By how much the clock of one of the server's machines may be wrong."""


@st.composite
def instants(draw: st.DrawFn) -> float:
    """Draw instants of bursts, ties, gaps and round times."""
    kind = draw(st.sampled_from(["any", "burst", "round"]))
    if kind == "any":
        second = draw(st.integers(-2 * DAY, HORIZON))
        return second + draw(st.sampled_from([0, 0.5]))
    if kind == "burst":
        begin = draw(st.sampled_from([0, 1777, 90_000]))
        return begin + draw(st.integers(0, 3))
    return draw(st.integers(-48, 144)) * HOUR


@st.composite
def broken(draw: st.DrawFn) -> tuple[float, float]:
    """Draw an interval that cannot be read, also one that ends the stream."""
    begin = draw(instants())
    length = draw(st.sampled_from([0, HOUR, 9 * HOUR]))
    return begin, begin + length


@st.composite
def leads(
    draw: st.DrawFn,
    stream: str,
    lookback: int,
) -> list[Lead]:
    """Draw leads that are found late and whose signals move, also a little back."""
    drawn = []
    late = st.integers(0, lookback)
    # Only what is found by another time can show one that is long ago.
    ages = [0]
    if stream == "leads":
        ages += [60, 40 * DAY]
    times = draw(st.lists(instants(), max_size=40))
    for number, found in enumerate(times):
        visible = found + draw(late)
        age = draw(st.sampled_from(ages))
        versions = [Version(visible, found - age)]
        moves = draw(st.lists(instants(), max_size=2))
        for moved in sorted(moves):
            if moved > versions[-1].shown_from:
                versions.append(Version(moved, moved - draw(late)))
        lead = Lead(
            id=f"lead-{number}",
            found_at=found,
            versions=versions,
            signal=draw(st.sampled_from("ab")),
        )
        drawn.append(lead)
    return drawn


@st.composite
def configs(
    draw: st.DrawFn,
    stream: str,
    lookback: int,
) -> Json:
    """Draw the settings of a run."""
    start = draw(st.sampled_from([0, 0, 0, -DAY, 23 * HOUR, 1777]))
    concurrency = draw(st.sampled_from([1, 2, 8]))
    # Twice the longest period, so that each run may read all of it again.
    longer = 3 * HOUR
    seconds = draw(st.sampled_from([lookback, longer]))
    config: Json = {
        "page_size": 3,
        "max_retries": 0,
        "concurrency": concurrency,
        "lookback_days": seconds / DAY,
        "start_date": iso(start),
    }
    end = draw(st.sampled_from([None, None, None, 2 * DAY, 3 * DAY]))
    if end is not None:
        config["end_date"] = iso(end)
    budget = draw(st.sampled_from([None, None, None, 1, 4, 20]))
    if budget:
        config["max_requests_per_run"] = budget
    if draw(st.integers(0, 4)) == 0:
        config["window_days"] = draw(st.sampled_from([0.1, 1, 30]))
    if draw(st.integers(0, 5)) == 0:
        config["filters"] = {stream: {"signals": ["a"]}}
    return config


@st.composite
def apis(
    draw: st.DrawFn,
    stream: str,
    lookback: int,
) -> Api:
    """Draw an API, with whatever its description leaves open."""
    refuses = draw(st.booleans())
    shows = draw(st.sampled_from(["newest", "newest", "each", "first"]))
    drawn = draw(leads(stream, lookback))
    if shows == "first":
        # What comes after the signal that a lead was found by comes after it was found.
        drawn = [_in_order(lead) for lead in drawn]
    # What a machine that is behind calls its future, the run does not read. The windows
    # that it responds to are read again later, and an older signal would come last.
    most = 0 if refuses or shows == "first" else 4
    numbers = st.integers(0, 20)
    return Api(
        leads=drawn,
        seconds_per_request=draw(st.sampled_from([0, 7, 300])),
        seconds_to_query=draw(st.sampled_from([0, 0, 3, 100])),
        seconds_to_respond=draw(st.sampled_from([0, 0, 3, 100])),
        refuses_the_future=refuses,
        odd_clocks=draw(
            st.dictionaries(
                numbers,
                odd,
                max_size=most,
            )
        ),
        at_each_signal=shows == "each",
        first_when_found=shows == "first",
        holds_start=draw(st.booleans()),
        holds_end=draw(st.booleans()),
        newest_first=draw(st.booleans()),
    )


def _in_order(lead: Lead) -> Lead:
    first, *later = lead.versions
    versions = [first]
    for version in later:
        observed_at = max(version.observed_at, lead.found_at)
        moved = replace(version, observed_at=observed_at)
        versions.append(moved)
    return replace(lead, versions=versions)


def time_of(
    lead: Lead,
    version: int,
    stream: str,
) -> float:
    """Return the time that a stream's first range goes by."""
    if stream == "leads":
        return lead.found_at
    return lead.versions[version].observed_at


def rank(
    api: Api,
    lead: Lead,
    version: int,
) -> tuple[float, int]:
    """Say how new a version is."""
    if not api.at_each_signal:
        return 0, version
    return lead.versions[version].observed_at, version


Holes = list[tuple[float, float]]


def run_beside_holes(
    api: Api,
    store: Store,
    config: Json,
    **options: Any,
) -> tuple[bool, Holes]:
    """Return whether a run has read everything but holes, and what they may hold.

    A new hole is at least a minute, and at most twice what is broken. One that the
    state knows is tried in thirds, so a part of it may be left, too.
    """
    known = known_holes(store)
    new: Holes = []
    if api.broken:
        begin, end = api.broken
        new.append((begin - 120, end + (end - begin) + 120))
    # A STATE follows each change, as a state that says too much is seen only then.
    states = mock.patch("tap_leadintent.singer.stream._MIN_BETWEEN_STATES", 1)
    try:
        with states:
            # What an API cannot return yet is no hole, and is left to the next run.
            return run(api, store, config, **options), new
    except RunError as error:
        store.end()
        if "max_requests_per_run" in str(error):
            return False, []
        assert new
        has_read_the_rest = "each run tries again" in str(error)
        return has_read_the_rest, [*new, *known]


def forget_some(
    store: Store,
    stream: str,
    ends: tuple[float, float],
) -> None:
    """Forget what lies between two instants of the model, if anything does."""
    start, end = sorted(int(EPOCH + each) for each in ends)
    states = store.state.get("bookmarks", {})
    with suppress(StateError):
        states[stream] = forget(
            states.get(stream, {}),
            stream,
            (start, end + 1),
        )


def known_holes(store: Store) -> Holes:
    """Return the holes that a state names."""
    holes = []
    for bookmark in store.state.get("bookmarks", {}).values():
        for entry in bookmark.get("coverage", []):
            if "hole" in entry:
                start = seconds_of(entry["from"])
                end = seconds_of(entry["to"])
                holes.append((start, end))
    return holes


def touches(holes: Holes, lead: Lead) -> bool:
    """Say whether a time of a lead lies in a hole."""
    times = [lead.found_at]
    times += [version.observed_at for version in lead.versions]
    return any(is_within(hole, times) for hole in holes)


def is_within(hole: tuple[float, float], times: list[float]) -> bool:
    start, end = hole
    return any(start <= time <= end for time in times)


def moved_away(
    api: Api,
    visible: dict[str, int],
    stream: str,
    config: Any,
    had: set[str],
) -> set[tuple[str, int]]:
    """Return the versions that only the next run is sure to find."""
    moved = visible.items() - api.visible().items()
    if stream != "leads" or api.first_when_found:
        return moved
    # A window of `date_found` holds the leads found since the start, whatever moves,
    # unless an earlier run has read it.
    # Others are read by their signals, which may move beyond the end of the run.
    start = config["start_date"]
    held: set[str] = set()
    for lead in api.leads:
        if lead.id not in had and iso(lead.found_at) >= start:
            held.add(lead.id)
    return {(name, version) for name, version in moved if name not in held}


def assert_has_arrived(  # noqa: PLR0913, PLR0917 - the whole course
    lead: Lead,
    version: int,
    stream: str,
    config: Json,
    until: float,
    api: Api,
    store: Store,
) -> None:
    """Assert that a lead which a run had to read is in the target, and is as new."""
    start = config["start_date"]
    end = config.get("end_date")
    filters = config.get("filters", {})
    kinds = filters.get(stream, {}).get("signals", "ab")
    its = lead.versions[version]
    times = [time_of(lead, version, stream)]
    # What appears after `until` with an older signal is left to the next run.
    signal_time = max(its.observed_at, its.shown_from)
    if stream == "leads" and end is None and signal_time < until:
        times.append(its.observed_at)

    def is_read(time: float) -> bool:
        is_before_end = end is None or iso(time) < end
        return time < until and iso(time) >= start and is_before_end

    if lead.signal not in kinds or not any(map(is_read, times)):
        return
    kept = store.rows.get(lead.id)
    assert kept is not None, (lead, store.state)
    # A signal of after the run's end is the next run's, and all that moved
    # are the next one's without `end_date`.
    is_due = signal_time < until and (stream != "leads" or end is None)
    if is_due:
        has_newest = rank(api, lead, kept) >= rank(api, lead, version)
        assert has_newest, (lead, kept, store.state)


@pytest.mark.long
@pytest.mark.parametrize("stream", ["leads", "monitored_leads"])
@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_every_record_of_the_requested_range_arrives_as_new_as_it_was(
    data: st.DataObject,
    stream: str,
) -> None:
    # The least lookback of any run: records surface at most so late.
    lookback = data.draw(st.sampled_from([0, 1800, 1800]))
    api = data.draw(apis(stream, lookback))
    store = Store(drains=data.draw(st.booleans()))
    filters: Json = {}
    for _ in range(data.draw(st.integers(3, 7))):
        # By a run that begins sooner, a late record need not be read again.
        least = HOUR if lookback else 0
        api.now += data.draw(st.integers(least, 2 * DAY))
        config = data.draw(configs(stream, lookback))
        event = data.draw(st.sampled_from(["", "", "", "", "refresh", "forget"]))
        if config.get("filters", {}) != filters:
            # The state belongs to other filters, so the next run would fail.
            event = "refresh"
        filters = config.get("filters", {})
        if event == "refresh":
            store.state = {}
        elif event == "forget":
            ends = data.draw(st.tuples(instants(), instants()))
            forget_some(store, stream, ends)
        ahead = data.draw(st.sampled_from([0, 0, 90, -90, 3 * HOUR]))
        if max(api.odd_clocks.values(), default=0) > 0:
            # Nothing is promised where both clocks are ahead.
            ahead = min(ahead, 0)
        killed_after = data.draw(st.none() | st.none() | st.integers(0, 60))
        begun = api.now
        visible = api.visible()
        had = {*store.rows}
        api.broken = data.draw(st.none() | st.none() | broken())
        finished, holes = run_beside_holes(
            api,
            store,
            config,
            clock_ahead=ahead,
            killed_after=killed_after,
            selected=(stream,),
        )
        if not finished:
            continue
        # By a clock that is behind, the run ends before it began.
        until: float = int(begun) + min(0, ahead)
        if api.refuses_the_future:
            until -= api.seconds_to_query
            until -= api.seconds_to_respond
            until -= api.seconds_per_request
        moved = moved_away(api, visible, stream, config, had)
        for lead in api.leads:
            version = visible.get(lead.id)
            has_moved = (lead.id, version) in moved
            if version is None or has_moved or touches(holes, lead):
                continue
            assert_has_arrived(
                lead,
                version,
                stream,
                config,
                until,
                api,
                store,
            )
