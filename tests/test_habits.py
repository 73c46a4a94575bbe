"""Habits that the API's description keeps quiet about: no row is silently missing."""

from typing import Any

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import API_KEY, Json, Run, RunTap, ids_of, leads_with, only
from tests.support.runs import CLOCK, SINCE, after_since

LEADS = only("leads")
FULL = leads_with(replication_method="FULL_TABLE")


def ids(source: Sandbox | Run) -> set[str]:
    return ids_of(source.records("leads"))


def restart(sandbox: Sandbox, **options: Any) -> None:
    sandbox.configure(
        api_key=API_KEY,
        **options,
    )


def test_a_range_that_is_cut_to_a_month_loses_nothing(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
) -> None:
    since = "2023-01-01"
    restart(
        sandbox,
        sizes={"leads": 40},
        since=f"{since}T00:00:00Z",
        clock=CLOCK,
    )
    sandbox.faults({"kind": "cut_range", "days": 30})
    run = tap({**config, "start_date": since}, catalog=LEADS).succeeded()
    assert ids(run) == ids(sandbox)
    short = tap(
        {
            **config,
            "start_date": since,
            "window_days": 99,
        },
        catalog=LEADS,
    )
    assert ids(short) < ids(sandbox), "a longer window can be set"


@pytest.mark.parametrize("history", ["uniform", "bursts"])
@pytest.mark.parametrize("cap", [300, 500, 1000])
def test_a_query_that_ends_early_is_read_in_parts(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
    history: str,
    cap: int,
) -> None:
    restart(
        sandbox,
        sizes={"leads": 2600},
        history=history,
        since=SINCE,
    )
    sandbox.faults({"kind": "cap", "records": cap})
    run = tap(config, catalog=LEADS).succeeded()
    assert ids(run) == ids(sandbox)
    assert "A query ended after" not in run.stderr


@pytest.mark.parametrize("cap", [200, 300, 400])
def test_a_scheduled_query_that_ends_early_is_read_in_parts(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
    cap: int,
) -> None:
    restart(
        sandbox,
        sizes={"leads": 1500},
        since=after_since(364),
    )
    first = tap({**config, "end_date": after_since(364)}, catalog=LEADS).succeeded()
    state = first.state
    coverage = state["bookmarks"]["leads"]["coverage"]
    _head, found = coverage
    coverage.append({**found, "range": "latest_signal"})
    sandbox.faults({"kind": "cap", "records": cap})
    second = tap(config, catalog=LEADS, state=state)
    assert "damaged" not in second.stderr
    assert ids(second) == ids(sandbox) - ids(first)


def test_a_capped_list_warns(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
) -> None:
    restart(
        sandbox,
        sizes={"leads": 450},
        since=SINCE,
    )
    sandbox.faults({"kind": "cap", "records": 300})
    run = tap(config, catalog=FULL).succeeded()
    assert len(ids(run)) == 300
    assert run.stderr.count("The list ended after 300 records,") == 1


def test_a_lead_in_two_sheets_gives_one_warning(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
) -> None:
    restart(
        sandbox,
        sizes={"leads": 250},
        since=SINCE,
    )
    sandbox.faults({"kind": "two_sheets"})
    run = tap(config, catalog=LEADS).succeeded()
    assert run.stderr.count("came several times on one page") == 1
    assert "the records differ in sheet;" in run.stderr


def test_a_chain_that_turns_in_a_circle_fails(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
) -> None:
    restart(
        sandbox,
        sizes={"leads": 500},
        since=SINCE,
    )
    sandbox.faults({"kind": "circle"})
    assert "page 4 repeats all records" in tap(config, catalog=FULL).failed()
