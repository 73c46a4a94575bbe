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
SETTINGS = {
    "page_size": 100,
    "lookback_days": 0.25,
    "concurrency": 4,
}
HOURS = 8
"""After so many hours, an hourly run reads as much again as it did at first."""


def even() -> list[Lead]:
    return [lead(number, number * NOW // 1_500) for number in range(1_500)]


def aged() -> list[Lead]:
    """Return leads that are found a day to a month after their signal."""
    found = list[Lead]()
    for number in range(5_000):
        time = number * NOW // 5_000
        days = number * 7 % 30 + 1
        found.append(lead(number, time, time - days * DAY))
    return found


def growing() -> list[Lead]:
    return grown(1_500, shape=0.4)


def grown(count: int, shape: float) -> list[Lead]:
    """Return leads of which the more come the later it is, the lower the shape is."""
    found = list[Lead]()
    for number in range(count):
        share = (number / count) ** shape
        found.append(lead(number, int(NOW * share)))
    return found


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
    begin = day * DAY
    return [begin + place * 60 // size for place in range(size)]


@pytest.mark.parametrize(
    ("history", "factor"),
    [
        pytest.param(even(), 1.5, id="even"),
        pytest.param(growing(), 1.5, id="growing"),
        pytest.param(
            imports(251, 288, 325, 362, 399),
            2.5,
            id="imports",
        ),
        # Queries that end after the same number of leads look as if they were cut.
        pytest.param(
            imports(300, 300, 300, 300, 300),
            2.5,
            id="imports of one size",
        ),
        pytest.param(imports(1_500), 2.5, id="one import"),
        pytest.param([], 1.5, id="nothing"),
    ],
)
def test_a_first_load_takes_what_is_estimated(
    tmp_path: Path,
    history: list[Lead],
    factor: float,
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
        pytest.param(
            Server(
                leads=even(),
                page=25,
                promises_more=True,
            ),
            id="small pages",
        ),
        pytest.param(
            Server(
                leads=growing(),
                promises_more=True,
            ),
            id="a page more",
        ),
        pytest.param(
            Server(
                leads=even(),
                unit=DAY,
            ),
            id="whole days",
        ),
        # No range is as wide as the history.
        pytest.param(
            Server(
                leads=growing(),
                longest=31 * DAY,
            ),
            id="cut ranges",
        ),
        # A range of a month has several pages, and leads do not show when they came.
        pytest.param(
            Server(
                leads=aged(),
                longest=31 * DAY,
                keeps_end=True,
                newest_first=False,
            ),
            id="cut and dense",
        ),
    ],
)
def test_a_first_load_of_an_odd_server_takes_what_is_estimated(
    tmp_path: Path,
    server: Server,
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
        pytest.param(
            [
                imported(40, 900),
                imported(100, 60),
                imported(220, 240),
            ],
            DAY,
            id="three",
        ),
        # Eight imports, for which the requests are too few.
        pytest.param(
            [imported(30 * number, 6 * number**2) for number in range(1, 9)],
            1,
            id="eight",
        ),
    ],
)
def test_bursts_have_at_least_what_is_said(
    tmp_path: Path,
    history: list[list[int]],
    unit: int,
) -> None:
    times = sorted(chain.from_iterable(history))
    # These leads do not show when they were found, so they have to be looked for.
    leads = [lead(number, time, time - DAY) for number, time in enumerate(times)]
    server = Server(
        now=NOW,
        leads=leads,
        page=20,
        unit=unit,
    )
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
    # Of pages of five, it would take three hundred.
    server = Server(
        now=NOW,
        leads=grown(rows, shape),
        page=5,
    )
    [volume] = answers(tmp_path, server, SETTINGS)["estimate"]
    assert rows / 1.5 <= volume[2] <= rows * 1.5
