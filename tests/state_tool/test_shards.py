"""A backfill in shards: split, loaded, joined, and carried on from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.model import (
    DAY,
    HOUR,
    Api,
    Lead,
    Version,
    iso,
    lead,
    seconds_of,
    steady,
)
from tests.support.model_runs import DEFAULTS, run
from tests.support.states import NOW, changed, refused
from tests.support.store import Store
from tests.support.told import asked

if TYPE_CHECKING:
    from collections.abc import Callable

    Write = Callable[[str, object], str]


def test_what_appears_late_or_moves_while_shards_are_loaded_arrives(
    write: Write,
) -> None:
    api = Api(now=90 * DAY, leads=steady(30 * 24, 3 * HOUR))
    for number in range(150):
        # Before the end of a shard, shown after it was loaded, and by no signal.
        found = (20 * (number % 3 + 1) - number / 151) * DAY
        api.leads.append(Lead(f"late-{number}", found, [Version(95 * DAY, -DAY)]))
        api.leads.append(lead(1000 + number, 0, HOUR, 91 * DAY + number * HOUR))
    bounds = ("--from", iso(0), "--to", iso(60 * DAY))
    shards = changed("split", *bounds, "--shards", "3")
    common = {**DEFAULTS, "page_size": 10, "start_date": iso(0)}

    # The project has loaded the last 30 days before.
    usual = Store()
    assert run(api, usual, {**common, "start_date": iso(60 * DAY)})
    rows = dict(usual.rows)
    paths = [write("usual.json", usual.state)]
    for number, shard in enumerate(shards):
        api.now += HOUR
        store = Store()
        assert run(api, store, {**common, **shard})
        rows |= store.rows
        paths.append(write(f"{number}.json", store.state))

    line = refused("join", *bounds, *paths[:2], *paths[3:])
    assert line.startswith("leads: date_found is not covered from ")
    usual.state = changed("join", *bounds, *paths)
    usual.rows = rows
    api.now = 99 * DAY
    api.requests.clear()
    assert run(api, usual, common)
    assert usual.rows == api.shown()
    again = {each[1:] for each in asked(api) if each[0] == "date_found"}
    days = sum(seconds_of(end) - seconds_of(start) for start, end in again) / DAY
    assert days < 20, "the lookback of each, what is new, and not the 99 days"


@pytest.mark.parametrize("options", [(), ("--range", "date_found")])
def test_what_appears_late_arrives_once_its_time_is_forgotten(
    options: tuple[str, ...],
) -> None:
    late = Lead("late", 20 * DAY, [Version(40 * DAY, 20 * DAY)])
    api, store = Api(now=30 * DAY, leads=[*steady(700), late]), Store()
    common = {**DEFAULTS, "start_date": iso(0)}
    for day in (30, 50):
        api.now = day * DAY
        assert run(api, store, common)
    assert "late" not in store.rows
    stretch = ("--from", iso(19 * DAY), "--to", iso(21 * DAY))
    store.state = changed(
        "forget", "--stream", "leads", *options, *stretch, stdin=store.state
    )
    assert run(api, store, common)
    assert store.rows == api.shown()


def test_a_time_is_split_into_shards() -> None:
    options = ("--from", "2025-01-01", "--to", "2026-01-01", "--shards", "3")
    assert changed("split", *options) == [
        {"start_date": "2025-01-01T00:00:00Z", "end_date": "2025-05-02T16:00:00Z"},
        {"start_date": "2025-05-02T16:00:00Z", "end_date": "2025-09-01T08:00:00Z"},
        {"start_date": "2025-09-01T08:00:00Z", "end_date": "2026-01-01T00:00:00Z"},
    ]
    (whole,) = changed("split", "--from", "2025-01-01", "--shards", "1")
    assert whole["end_date"] == NOW


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--from", "soon"), "--from: 'soon' is not a date or date-time, such as"),
        (
            ("--from", "2025-01-01", "--to", "2025-01-01"),
            (
                "--shards: the time from 2025-01-01T00:00:00Z to 2025-01-01T00:00:00Z "
                "cannot be cut into 2"
            ),
        ),
        (("--from", "2025-01-01", "--to", "2025"), "--to: '2025' is not a date"),
        (("--from", "2025-01-01", "--shards", "0"), "--shards: the time from "),
    ],
)
def test_what_cannot_be_split_is_one_line(options: tuple[str, ...], line: str) -> None:
    assert refused("split", "--shards", "2", *options).startswith(line)
