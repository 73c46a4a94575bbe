"""Where runs begin: a start date of long ago, of the epoch, and ahead."""

from __future__ import annotations

import pytest

from tap_leadintent.errors import ConfigError
from tests.support.model import DAY, HOUR, Api, Lead, lead, second, steady
from tests.support.model_runs import run
from tests.support.store import Store
from tests.support.told import STRICT, asked, entries, warnings


def test_a_start_date_means_found_or_with_a_signal_since_then() -> None:
    signal_since, found_since = lead(1, DAY, DAY, 5 * DAY), lead(2, 5 * DAY, DAY)
    api = Api(now=9 * DAY, leads=[signal_since, found_since, lead(3, DAY)])
    store = Store()
    run(api, store, {**STRICT, "start_date": second(3 * DAY)})
    assert store.rows.keys() == {signal_since.id, found_since.id}


def test_a_start_date_before_1970_is_read_from() -> None:
    old = Lead("old", -25_000 * DAY, lead(0, 0).versions)
    api, store = Api(now=2 * DAY, leads=[old, *steady(20)]), Store()
    run(api, store, {**STRICT, "start_date": "0001-01-01"})
    assert len(store.rows) == 21
    for _, start, end in asked(api):
        assert start < end
    assert {each["from"] for each in entries(store)} == {"0001-01-01T00:00:00Z"}


@pytest.mark.parametrize("start", ["1970-01-01", "1969-12-31T23:59:59Z"])
def test_a_start_date_at_the_epoch_is_a_range_like_others(start: str) -> None:
    api, store = Api(now=2 * DAY, leads=steady(40)), Store()
    run(api, store, {**STRICT, "start_date": start})
    assert len(store.rows) == 40
    assert all({"date_found", "latest_signal"} & body.keys() for body in api.requests)


def test_before_the_start_date_comes_nothing_is_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    config = {**STRICT, "start_date": second(2 * DAY + 20 * HOUR)}
    run(api, store, config, selected=("leads", "observations", "signal_agents"))
    assert all(set(body) == {"cursor"} for body in api.requests)
    assert len(api.requests) == 2
    (line,) = warnings(caplog)
    assert (
        line == "start_date lies in the future; nothing is read of leads, observations"
    )


def test_a_start_date_that_is_days_away_cannot_be_meant() -> None:
    config = {**STRICT, "start_date": second(2 * DAY + 25 * HOUR)}
    with pytest.raises(ConfigError, match=r"^start_date: .* lies in the future$"):
        run(Api(now=2 * DAY), Store(), config)
