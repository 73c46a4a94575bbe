"""The estimate is close to what the tap then takes of the same server."""

from itertools import chain
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


def aged() -> list[Lead]:
    """Return leads that are found a day to a month after their signal."""
    found = list[Lead]()
    for number in range(5_000):
        time = number * NOW // 5_000
        found.append(lead(number, time, time - (number * 7 % 30 + 1) * DAY))
    return found


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


def imported(day: int, size: int) -> list[int]:
    """Return when the leads of an import come that takes a minute."""
    return [day * DAY + place * 60 // size for place in range(size)]


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


@pytest.mark.parametrize(
    "server",
    [
        Server(leads=even(), page=25, promises_more=True),
        Server(leads=growing(), promises_more=True),
        Server(leads=even(), unit=DAY),
        # No range is as wide as the history.
        Server(leads=growing(), longest=31 * DAY),
        # A range of a month has several pages, and leads do not show when they came.
        Server(leads=aged(), longest=31 * DAY, keeps_end=True, newest_first=False),
    ],
    ids=["small pages", "a page more", "whole days", "cut ranges", "cut and dense"],
)
def test_a_first_load_of_an_odd_server_takes_what_is_estimated(
    tmp_path: Path, server: Server
) -> None:
    server.now = NOW
    first, _, _ = answers(tmp_path, server, SETTINGS)["total"]
    run(server, Store(), SETTINGS)
    taken = count_requests(server)
    assert taken / 1.5 <= first[0] <= taken * 1.5


@pytest.mark.parametrize(
    ("history", "unit"),
    [
        # Three imports of very different sizes, whose times are rounded to days.
        ([imported(40, 900), imported(100, 60), imported(220, 240)], DAY),
        # Eight imports, for which the requests are too few.
        ([imported(30 * number, 6 * number**2) for number in range(1, 9)], 1),
    ],
    ids=["three", "eight"],
)
def test_bursts_have_at_least_what_is_said(
    tmp_path: Path, history: list[list[int]], unit: int
) -> None:
    times = sorted(chain.from_iterable(history))
    # These leads do not show when they were found, so they have to be looked for.
    leads = [lead(number, time, time - DAY) for number, time in enumerate(times)]
    server = Server(now=NOW, leads=leads, page=20, unit=unit)
    settings = {**SETTINGS, "page_size": 20}
    [volume] = answers(tmp_path, server, settings)["estimate"]
    *_, is_least = volume
    run(server, Store(), settings)
    taken = count_requests(server)
    requests, _ = volume[3]
    assert requests <= taken * 2.5
    if is_least:
        assert volume[2] <= len(leads)
    else:
        assert taken / 2.5 <= requests


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
