"""Records that appear late are loaded, soon after they appear."""

from random import Random

import pytest

from tap_leadintent.state_tool.changes import forget
from tap_leadintent.times import LATEST
from tests.support.model import DAY, EPOCH, HOUR, Api, Lead, Version, iso
from tests.support.model_runs import CONFIG, count_requests, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("_quiet")

LOOKBACK = 1
"""`lookback_days` of these runs."""

BACKUP = 8
RESTORE = 18
"""The runs before which the rows are copied, and brought back."""


def late_leads(draw: Random, days: int) -> list[Lead]:
    """Return leads whose first version appears up to a day late."""
    leads = []
    for number in range(days * 12):
        found = draw.uniform(0, days * DAY)
        late = draw.choice(
            [
                0,
                0,
                600,
                3 * HOUR,
                draw.uniform(0, LOOKBACK * DAY),
            ]
        )
        versions = [Version(found + late, found)]
        if draw.random() < 0.3:
            moved = found + late + draw.uniform(0, DAY)
            versions.append(Version(moved + late, max(moved, found)))
        leads.append(Lead(f"lead-{number}", found, versions))
    return leads


@pytest.mark.parametrize(
    ("pauses", "days"),
    [
        pytest.param([900], 1, id="every 15 minutes"),
        pytest.param([HOUR], 4, id="hourly"),
        pytest.param(
            [6 * HOUR],
            12,
            id="every six hours",
        ),
        pytest.param([DAY], 30, id="daily"),
        pytest.param(
            [700, 5000, 3 * HOUR, 50_000],
            9,
            id="at odd times",
        ),
        pytest.param(
            [HOUR] * 30 + [3 * DAY],
            9,
            id="with pauses",
        ),
    ],
)
@pytest.mark.parametrize(
    ("first_when_found", "kills"),
    [(False, False), (True, True)],
)
def test_a_late_record_is_loaded_within_twice_its_lateness(
    pauses: list[int],
    days: int,
    *,
    first_when_found: bool,
    kills: bool,
) -> None:
    """Or by the next run that comes to its end, if that is later.

    Also where the warehouse is restored from a backup, and its time forgotten.
    """
    draw = Random(f"{pauses} {kills}")  # noqa: S311
    api = Api(leads=late_leads(draw, days))
    store = Store()
    api.first_when_found = first_when_found
    config = {
        "page_size": 100,
        "lookback_days": LOOKBACK,
        "concurrency": 2,
    }
    ends: list[float] = []
    number = 0
    while api.now < days * DAY:
        api.now += pauses[number % len(pauses)]
        number += 1
        if number == BACKUP:
            backup = {**store.rows}
            since = int(EPOCH + ends[-1])
        elif number == RESTORE:
            store.rows = backup
            streams = store.state["bookmarks"]
            streams["leads"] = forget(
                streams["leads"],
                "leads",
                (since, LATEST),
            )
        killed_after = draw.choice([None, 1, 4, 9]) if kills else None
        if not run(api, store, config, killed_after=killed_after):
            continue
        ends.append(api.now)
        before = ends[-2] if len(ends) > 1 else 0
        for lead in api.leads:
            version = api.version(lead)
            if version is None or lead.found_at > api.now:
                continue
            appeared = lead.versions[version].shown_from
            late = appeared - lead.versions[version].observed_at
            is_due = appeared + max(2 * late, 0) <= before
            assert not is_due or store.rows.get(lead.id, -1) >= version, iso(api.now)


def test_a_year_of_hourly_runs_costs_little() -> None:
    """Three days of it, with 50 new leads a day, at the end of a year."""
    api = Api(
        now=365 * DAY,
        leads=[],
    )
    store = Store()
    draw = Random(7)  # noqa: S311
    for number in range(52 * 50):
        found = draw.uniform(330 * DAY, 368 * DAY)
        api.leads.append(
            Lead(
                f"lead-{number}",
                found,
                [Version(found, found)],
            )
        )
    run(api, store, {"page_size": 100})
    costs: list[int] = []
    for _ in range(3 * 24):
        api.now += HOUR
        count_requests(api)
        run(api, store, {"page_size": 100})
        costs.append(count_requests(api))
        assert store.rows.keys() == api.visible().keys()
    assert sum(costs) / len(costs) <= 2 * 2.5
    assert sorted(costs)[len(costs) // 2] == 2, "most hours take a request a range"


@pytest.mark.usefixtures("concurrency")
def test_the_lookback_reaches_what_a_long_run_has_read_first() -> None:
    """It counts from when the run began, also where the server's clock decides."""
    late = Lead(
        "late",
        3,
        [Version(445, -DAY)],
    )
    api = Api(
        now=300,
        leads=[late],
        seconds_per_request=100,
    )
    store = Store()
    config = {
        **CONFIG,
        "lookback_days": 0.02,
        "window_days": 0.001,
    }
    for _ in range(2):
        run(api, store, config, clock_ahead=3 * HOUR)
    assert store.rows == {late.id: 0}
