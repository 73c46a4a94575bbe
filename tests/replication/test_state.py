"""Runs from states of other sources, of other filters, and of the future."""

import json
from contextlib import suppress

import pytest

from tap_leadintent.singer.errors import RunError
from tests.support.helpers import Json
from tests.support.model import DAY, HOUR, Api, iso, lead, second, steady
from tests.support.model_runs import STRICT, asked, entries, run
from tests.support.store import Store

HERE = "https://api.example.com"
THERE = "https://api.example.org"
BOTH = ("leads", "observations")
FILTERS = {"leads": {"signals": ["a"]}}
MOVED = lead(0, -HOUR, -HOUR, HOUR)
"""A lead that `first_when_found` returns with the older of its signals."""


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was warned of the state since the last call, and forget it."""
    lines = [line for line in caplog.messages if "state" in line or "scratch" in line]
    caplog.clear()
    return lines


def starts(api: Api) -> set[str]:
    """Return where the requests since the last call begin."""
    return {start for _, start, _ in asked(api)}


def test_another_source_is_fully_read_and_the_first_one_keeps_its_coverage(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    run(api, store, STRICT, selected=BOTH)
    asked(api)
    assert warnings(caplog) == []

    there = {**STRICT, "base_url": f"{THERE}/"}
    run(api, store, there, selected=BOTH)
    assert second(-1) in starts(api)
    (line,) = warnings(caplog)
    assert f"as base_url was {HERE} in the last run and is {THERE} now" in line
    run(api, store, {**there, "filters": FILTERS})
    assert second(-1) in starts(api)
    (line,) = warnings(caplog)
    assert line.startswith(
        "leads: If filters.leads is wrong, stop the run and correct it. "
    )

    # Nor does a wrong address change anything if it gets no page.
    api.forbidden_at = 0
    with pytest.raises(RunError):
        run(api, store, {**STRICT, "base_url": "https://api.example.net"})
    asked(api)
    warnings(caplog)

    api.now = 3 * DAY
    again = {**STRICT, "base_url": "HTTPS://API.example.com/"}
    for config in (again, there, {**there, "filters": FILTERS}):
        run(api, store, config)
        assert starts(api) == {second(2 * DAY - 1)}
        assert warnings(caplog) == []
    assert {entry["source"] for entry in entries(store)} == {HERE, THERE}


def test_another_key_gives_one_warning_and_no_reread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    run(api, store, STRICT, selected=BOTH)
    api.now = 3 * DAY
    asked(api)
    for expected in (1, 0):
        run(api, store, {**STRICT, "api_key": "rotated-key"}, selected=BOTH)
        lines = warnings(caplog)
        assert [line[:15] for line in lines] == ["If the key is o"] * expected
    assert starts(api) == {second(2 * DAY - 1)}


def test_an_address_that_is_renamed_in_the_state_gives_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    run(api, store, STRICT)
    store.state = json.loads(json.dumps(store.state).replace(HERE, THERE))
    api.now = 3 * DAY
    asked(api)
    run(api, store, {**STRICT, "base_url": THERE})
    assert starts(api) == {second(2 * DAY - 1)}
    assert warnings(caplog) == []


def test_future_coverage_is_removed_before_anything_is_read() -> None:
    api, store = Api(now=2 * DAY, leads=steady(60)), Store()
    covered = {"range": "date_found", "from": second(DAY), "to": second(400 * DAY)}
    store.state = {"bookmarks": {"leads": {"coverage": [covered]}}}
    assert not run(api, store, STRICT, killed_after=9)
    assert [entry["to"] for entry in entries(store)] == [second(2 * DAY)]


def test_future_coverage_is_removed_with_and_without_a_source(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(60)), Store()
    ends = {"date_found": 400 * DAY, "latest_signal": 401 * DAY}
    coverage = [
        {"range": name, "from": second(0), "to": second(end)}
        for name, end in ends.items()
    ]
    store.state = {"bookmarks": {"leads": {"coverage": coverage}}}
    for days in (2, 3):
        api.now = days * DAY
        run(api, store, STRICT)
    (line,) = warnings(caplog)
    assert line.startswith("leads: The state covers a time in the future, up to ")
    assert second(401 * DAY) in line
    assert store.rows.keys() == {f"lead-{n:04}" for n in range(48, 60)}


# Other filters, and an API that returns older signals by the first range


@pytest.mark.usefixtures("concurrency")
@pytest.mark.parametrize("killed_after", [*range(9), 12, 16, 20])
@pytest.mark.parametrize("filters", [{}, FILTERS], ids=str)
@pytest.mark.parametrize("drains", [False, True])
def test_an_older_signal_that_a_killed_run_has_brought_is_replaced(
    killed_after: int, filters: Json, *, drains: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run does not ask for what the killed one had begun with."""
    if not drains:
        monkeypatch.setattr("tap_leadintent.singer.stream._MIN_BETWEEN_STATES", 1)
    api, store = Api(now=2 * DAY, leads=[MOVED]), Store(drains=drains)
    api.first_when_found = True
    run(api, store, STRICT)
    assert store.rows == {MOVED.id: 1}
    killed = {**STRICT, "start_date": iso(-DAY), "filters": filters}
    run(api, store, killed, killed_after=killed_after)
    run(api, store, STRICT)
    assert store.rows == {MOVED.id: 1}


@pytest.mark.usefixtures("concurrency")
@pytest.mark.parametrize(
    ("more", "broken"), [({"end_date": iso(DAY)}, None), ({}, (HOUR, HOUR))], ids=str
)
def test_an_older_signal_that_a_run_with_filters_has_left_is_replaced(
    more: Json, broken: tuple[float, float] | None
) -> None:
    api, store = Api(now=2 * DAY, leads=[MOVED], first_when_found=True), Store()
    run(api, store, STRICT)
    api.broken = broken
    with suppress(RunError):
        run(api, store, {**STRICT, "start_date": iso(-DAY), "filters": FILTERS, **more})
    assert store.rows == {MOVED.id: 0}
    api.broken = None
    run(api, store, STRICT)
    assert store.rows == {MOVED.id: 1}
