"""Runs from states of other places, of other versions, and of the future."""

from typing import Any

import pytest

from tap_leadintent.singer.errors import RunError, TapError
from tests.support.helpers import Json
from tests.support.model import DAY, HOUR, Api, iso, lead, second, steady
from tests.support.model_runs import STRICT, asked, count_requests, entries, run
from tests.support.store import Store

HERE = "https://api.example.com"
THERE = "https://api.example.org"
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


@pytest.fixture
def loaded() -> tuple[Api, Store]:
    """An API, and a target that a run has filled, a day ago."""
    api = Api(
        now=2 * DAY,
        leads=steady(20),
    )
    store = Store()
    run(api, store, STRICT)
    api.now += DAY
    count_requests(api)
    return api, store


# The place that a state belongs to


@pytest.mark.parametrize(
    ("changed", "variables", "texts"),
    [
        (
            {"base_url": THERE},
            {},
            [
                f"go back to base_url {HERE}, or",
                f"does not belong to base_url {THERE}",
                "adopt",
                "--full-refresh, or tap-leadintent-state forget)",
            ],
        ),
        (
            {"filters": FILTERS},
            {},
            [
                "go back to the former filters.leads",
                "tap-leadintent-state forget --stream leads",
            ],
        ),
        (
            {},
            {"MELTANO_ENVIRONMENT": "prod"},
            ["go back to Meltano's environment dev", "environment prod"],
        ),
        (
            {},
            {"MELTANO_EXTRACT__LOAD_SCHEMA": "other"},
            ["go back to the loader's schema raw", "loader's schema other"],
        ),
    ],
    ids=["address", "filters", "environment", "schema"],
)
def test_a_state_of_another_place_ends_the_stream_before_its_first_request(
    changed: Json,
    variables: dict[str, str],
    texts: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MELTANO_ENVIRONMENT", "dev")
    monkeypatch.setenv("MELTANO_EXTRACT__LOAD_SCHEMA", "raw")
    api = Api(
        now=2 * DAY,
        leads=steady(20),
    )
    store = Store()
    run(api, store, STRICT)
    count_requests(api)
    state = store.state
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    config = {**STRICT, **changed}
    with pytest.raises(TapError) as failure:
        run(api, store, config)
    assert count_requests(api) == 0
    message = str(failure.value)
    assert message.removeprefix("1 of 1 streams failed: leads: ").startswith("go back ")
    for text in texts:
        assert text in message
    assert ("adopt" in message) == ("filters" not in changed)
    # The state may be that of another pipeline, so it is not written under this one.
    assert bool(store.messages) == ("filters" in changed)
    # The state is as it was, so going back costs nothing.
    assert store.state["bookmarks"] == state["bookmarks"]


def test_what_is_not_known_of_a_place_does_not_differ(
    loaded: tuple[Api, Store],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such as when a project moves to Meltano, or away from it."""
    api, store = loaded
    monkeypatch.setenv("MELTANO_ENVIRONMENT", "prod")
    config = {**STRICT, "base_url": "HTTPS://API.example.com/"}
    run(api, store, config)
    assert starts(api) == {second(2 * DAY - 1)}
    monkeypatch.delenv("MELTANO_ENVIRONMENT")
    run(api, store, STRICT)


def test_a_run_that_has_read_nothing_leaves_no_place() -> None:
    """Such as one with a mistyped address."""
    api = Api(
        now=2 * DAY,
        leads=steady(20),
        forbidden_at=0,
    )
    store = Store()
    config = {**STRICT, "base_url": THERE}
    with pytest.raises(RunError, match="401"):
        run(api, store, config)
    assert run(api, store, STRICT)
    assert len(store.rows) == 20


def test_another_key_changes_nothing(
    loaded: tuple[Api, Store],
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = loaded
    config = {**STRICT, "api_key": "rotated-key"}
    run(api, store, config)
    assert starts(api) == {second(2 * DAY - 1)}
    assert warnings(caplog) == []


def test_filters_that_a_full_refresh_has_taken_out_leave_no_older_signal() -> None:
    api = Api(
        now=2 * DAY,
        leads=[MOVED],
        first_when_found=True,
    )
    store = Store()
    run(
        api,
        store,
        {
            **STRICT,
            "start_date": iso(-DAY),
            "filters": FILTERS,
        },
    )
    store.state = {}
    run(
        api,
        store,
        {**STRICT, "start_date": iso(-DAY)},
    )
    assert store.rows == {MOVED.id: 1}


# States of earlier versions


def old_state(*ends: float, **more: Any) -> Json:
    """Return the state of an earlier version, which covers its ranges up to `ends`."""
    ranges = ("date_found", "latest_signal")
    coverage = [
        {
            "range": name,
            "from": second(0),
            "to": second(end),
            "source": HERE,
            "key": "89abcdef",
            **more,
        }
        for name, end in zip(ranges, ends, strict=False)
    ]
    return {"bookmarks": {"leads": {"coverage": coverage}}}


@pytest.mark.parametrize(
    ("ends", "more", "start"),
    [
        # 16 hours are read again after a day, with a lookback of six.
        ((2 * DAY, 2 * DAY), {}, 2 * DAY - 16 * HOUR),
        ((2 * DAY, 2 * DAY), {"settled": True}, 2 * DAY),
        ((2 * DAY, 1.5 * DAY), {}, 1.5 * DAY - 16 * HOUR),
    ],
)
def test_a_state_of_an_earlier_version_is_read(
    ends: tuple[float, float],
    more: Json,
    start: float,
) -> None:
    api = Api(
        now=3 * DAY,
        leads=steady(60),
    )
    store = Store()
    store.state = old_state(*ends, **more)
    config = {**STRICT, "lookback_days": 0.25}
    run(api, store, config)
    assert min(starts(api)) == second(start - 1)
    (about, *_) = store.state["bookmarks"]["leads"]["coverage"]
    assert about["planned"] == second(3 * DAY)
    assert "source" in about


def test_a_state_of_another_tap_is_read_from_scratch(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = Api(
        now=2 * DAY,
        leads=steady(20),
    )
    store = Store()
    bookmark = {"replication_key": "x", "replication_key_value": iso(DAY)}
    store.state = {"bookmarks": {"leads": bookmark}}
    run(api, store, STRICT)
    assert len(store.rows) == 20
    (line,) = warnings(caplog)
    assert "its state does not say what has been read" in line


# Clocks


def test_future_coverage_is_removed_before_anything_is_read() -> None:
    api = Api(
        now=2 * DAY,
        leads=steady(60),
    )
    store = Store()
    covered = {
        "range": "date_found",
        "from": second(DAY),
        "to": second(400 * DAY),
    }
    store.state = {"bookmarks": {"leads": {"coverage": [covered]}}}
    assert not run(api, store, STRICT, killed_after=9)
    assert [entry["to"] for entry in entries(store)] == [second(2 * DAY)]


def test_future_coverage_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    api = Api(
        now=2 * DAY,
        leads=steady(60),
    )
    store = Store()
    store.state = old_state(400 * DAY, 401 * DAY)
    for days in (2, 3):
        api.now = days * DAY
        run(api, store, STRICT)
    (line,) = warnings(caplog)
    assert line.startswith("leads: The state covers a time in the future, up to ")
    assert second(401 * DAY) in line
    assert store.rows.keys() == {f"lead-{n:04}" for n in range(48, 60)}


def test_a_clock_that_goes_back_and_forth_loses_nothing() -> None:
    api = Api(
        now=9 * DAY,
        leads=steady(20 * 24),
    )
    store = Store()
    for number, ahead in enumerate((0, -3 * DAY, 0, -HOUR, 0)):
        run(api, store, STRICT, clock_ahead=ahead)
        until = api.now + ahead
        due = api.found_before(until)
        assert due <= store.rows.keys(), number
        api.now += HOUR


# Older signals that the first range brings


@pytest.mark.usefixtures("concurrency")
@pytest.mark.parametrize("killed_after", [*range(9), 12, 16, 20])
@pytest.mark.parametrize("drains", [False, True])
def test_an_older_signal_that_a_killed_run_has_brought_is_replaced(
    killed_after: int,
    *,
    drains: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next run does not ask for what the killed one had begun with."""
    if not drains:
        monkeypatch.setattr("tap_leadintent.singer.stream._MIN_BETWEEN_STATES", 1)
    api = Api(
        now=2 * DAY,
        leads=[MOVED],
    )
    store = Store(drains=drains)
    api.first_when_found = True
    run(api, store, STRICT)
    assert store.rows == {MOVED.id: 1}
    killed = {**STRICT, "start_date": iso(-DAY)}
    run(api, store, killed, killed_after=killed_after)
    run(api, store, STRICT)
    assert store.rows == {MOVED.id: 1}


@pytest.mark.usefixtures("concurrency")
def test_an_older_signal_that_a_bounded_run_has_brought_is_replaced() -> None:
    api = Api(
        now=2 * DAY,
        leads=[MOVED],
        first_when_found=True,
    )
    store = Store()
    run(api, store, STRICT)
    config = {
        **STRICT,
        "start_date": iso(-DAY),
        "end_date": iso(DAY),
    }
    run(api, store, config)
    assert store.rows == {MOVED.id: 0}
    run(api, store, STRICT)
    assert store.rows == {MOVED.id: 1}


@pytest.mark.usefixtures("concurrency")
def test_an_older_signal_in_a_hole_of_the_first_range_is_replaced() -> None:
    """The hole is of `date_found` alone, and a later run can read it."""
    hole = (DAY, DAY + HOUR)
    one = lead(0, DAY + 60, DAY + 60, 2 * DAY)

    class HalfBroken(Api):
        def respond(self, body: Json) -> tuple[int, Json]:
            broken = self.broken
            self.broken = None
            if "date_found" in body:
                self.broken = broken
            answer = super().respond(body)
            self.broken = broken
            return answer

    api = HalfBroken(
        now=3 * DAY,
        leads=[one],
        first_when_found=True,
    )
    store = Store()
    api.broken = hole
    config = {**STRICT, "max_retries": 0}
    with pytest.raises(RunError, match="what is missing"):
        run(api, store, config)
    assert store.rows == {one.id: 1}
    api.broken = None
    api.now += HOUR
    run(api, store, STRICT)
    assert store.rows == {one.id: 1}
