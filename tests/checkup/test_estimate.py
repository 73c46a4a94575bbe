"""The estimate is close to what the tap then takes of the same server."""

from pathlib import Path

import pytest

from tests.support.check_runs import answers
from tests.support.model import DAY, HOUR, Api, Lead, lead
from tests.support.model_runs import count_requests, run
from tests.support.odd_server import Server
from tests.support.store import Store

NOW = 300 * DAY
# Requests of the model take no time, so a run would not find out that it may send more.
SETTINGS = {"page_size": 100, "lookback_days": 0.25, "concurrency": 4}
HOURS = 8
"""After so many hours, an hourly run reads as much again as it did at first."""


def even() -> list[Lead]:
    return [lead(number, number * NOW // 1_500) for number in range(1_500)]


def growing() -> list[Lead]:
    times = (int(NOW * (number / 1_500) ** 0.4) for number in range(1_500))
    return [lead(number, time) for number, time in enumerate(times)]


def imports(*sizes: int) -> list[Lead]:
    """Return leads of imports that take an hour, of so many leads each."""
    found = list[Lead]()
    for number, size in enumerate(sizes):
        begin = (20 + 60 * number) * DAY
        for place in range(size):
            found.append(lead(len(found), begin + place * HOUR // size))
    return found


@pytest.mark.parametrize(
    ("history", "factor"),
    [
        (even(), 1.5),
        (growing(), 1.5),
        (imports(251, 288, 325, 362, 399), 2.5),
        # Queries that end after the same number of leads look as if they were cut.
        (imports(300, 300, 300, 300, 300), 2.5),
        (imports(1_500), 2.5),
        ([], 1.5),
    ],
    ids=["even", "growing", "imports", "imports of one size", "one import", "nothing"],
)
def test_a_first_load_takes_what_is_estimated(
    tmp_path: Path, history: list[Lead], factor: float
) -> None:
    api = Api(now=NOW, leads=history)
    report = answers(tmp_path, api, SETTINGS)
    first, _, _ = report["total"]
    for requests, records in report["total"]:
        assert isinstance(requests, int)
        assert isinstance(records, int)
    run(api, Store(), SETTINGS)
    taken = count_requests(api)
    assert taken / factor <= first[0] <= taken * factor


def test_hourly_runs_take_what_is_estimated(tmp_path: Path) -> None:
    api = Api(now=NOW, leads=even())
    _, hourly, _ = answers(tmp_path, api, SETTINGS)["total"]
    store = Store()
    run(api, store, SETTINGS)
    count_requests(api)
    for _ in range(HOURS):
        api.now += HOUR
        run(api, store, SETTINGS)
    taken = count_requests(api) / HOURS
    assert taken / 1.5 <= hourly[0] <= taken * 1.5


@pytest.mark.parametrize("shape", [1.0, 0.4], ids=["even", "growing"])
def test_a_long_history_is_estimated_from_samples(tmp_path: Path, shape: float) -> None:
    rows = 1_500
    leads = [lead(n, int(NOW * (n / rows) ** shape)) for n in range(rows)]
    # Of pages of five, it would take three hundred.
    server = Server(now=NOW, leads=leads, page=5)
    [volume] = answers(tmp_path, server, SETTINGS)["estimate"]
    assert rows / 1.5 <= volume[2] <= rows * 1.5
