"""The estimate is close to what the tap then takes of the same server."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.check_runs import answers
from tests.support.model import DAY, HOUR, Api, Lead, lead
from tests.support.model_runs import count_requests, run
from tests.support.store import Store

NOW = 300 * DAY
SETTINGS = {"page_size": 100, "lookback_days": 0.25}
HOURS = 8
"""After so many hours, an hourly run reads as much again as it did at first."""


def even() -> list[Lead]:
    return [lead(number, number * NOW // 3_000) for number in range(3_000)]


def growing() -> list[Lead]:
    times = (int(NOW * (number / 3_000) ** 0.4) for number in range(3_000))
    return [lead(number, time) for number, time in enumerate(times)]


def bursts() -> list[Lead]:
    """Return leads of five imports, each of which takes an hour."""
    found = list[Lead]()
    for number in range(5):
        # Imports of one size would look like a limit of the API.
        size = 251 + 37 * number
        begin = (20 + 60 * number) * DAY
        for second in range(0, HOUR, HOUR // size):
            found.append(lead(len(found), begin + second))
    return found


@pytest.mark.parametrize(
    ("history", "factor"), [(even, 1.5), (growing, 1.5), (bursts, 2.5)]
)
def test_runs_take_what_is_estimated(
    tmp_path: Path, history: Callable[[], list[Lead]], factor: float
) -> None:
    api = Api(now=NOW, leads=history())
    report = answers(tmp_path, api, SETTINGS)
    first, hourly, _ = report["total"]
    for requests, records in report["total"]:
        assert isinstance(requests, int)
        assert isinstance(records, int)
    store = Store()
    run(api, store, SETTINGS)
    taken = count_requests(api)
    assert taken / factor <= first[0] <= taken * factor
    for _ in range(HOURS):
        api.now += HOUR
        run(api, store, SETTINGS)
    taken_hourly = count_requests(api) / HOURS
    assert taken_hourly / factor <= hourly[0] <= taken_hourly * factor
