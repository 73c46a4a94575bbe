"""Habits that the API's description keeps quiet about: no row is silently missing."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests_mock

from tap_leadintent.openapi import PATHS
from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import API_KEY, VALID, RunTap, entries, only
from tests.support.runs import CLOCK, SINCE, after_since

LEADS = only("leads")


def ids(sandbox: Sandbox) -> set[str]:
    return {record["id"] for record in sandbox.records("leads")}


def restart(sandbox: Sandbox, **options: Any) -> None:
    sandbox.configure(api_key=API_KEY, **options)


def loaded(run: Any) -> set[str]:
    return {record["id"] for record in run.records("leads")}


def test_a_range_that_is_cut_to_a_month_loses_nothing(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap
) -> None:
    since = "2023-01-01"
    restart(sandbox, sizes={"leads": 40}, since=f"{since}T00:00:00Z", clock=CLOCK)
    sandbox.faults({"kind": "cut_range", "days": 30})
    run = tap({**config, "start_date": since}, catalog=LEADS).succeeded()
    assert loaded(run) == ids(sandbox)
    short = tap({**config, "start_date": since, "window_days": 99}, catalog=LEADS)
    assert loaded(short) < ids(sandbox), "a longer window can be set"


@pytest.mark.parametrize("history", ["uniform", "bursts"])
@pytest.mark.parametrize("cap", [300, 500, 1000])
def test_a_query_that_ends_early_is_read_in_parts(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap, history: str, cap: int
) -> None:
    restart(sandbox, sizes={"leads": 2600}, history=history, since=SINCE)
    sandbox.faults({"kind": "cap", "records": cap})
    run = tap({**config, "start_date": SINCE}, catalog=LEADS).succeeded()
    assert loaded(run) == ids(sandbox)
    assert "as full as the others" not in run.stderr


@pytest.mark.parametrize("cap", [200, 300, 400])
def test_a_scheduled_query_that_ends_early_is_read_in_parts(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap, cap: int
) -> None:
    restart(sandbox, sizes={"leads": 1500}, since=after_since(364))
    config = {**config, "start_date": SINCE}
    first = tap({**config, "end_date": after_since(364)}, catalog=LEADS).succeeded()
    state = first.state
    coverage = state["bookmarks"]["leads"]["coverage"]
    coverage.append({**coverage[0], "range": "latest_signal"})
    sandbox.faults({"kind": "cap", "records": cap})
    assert loaded(tap(config, catalog=LEADS, state=state)) == ids(sandbox)


def test_a_capped_list_is_completed_by_its_ranges_or_warned_of(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap
) -> None:
    restart(sandbox, sizes={"leads": 450}, since=SINCE)
    sandbox.faults({"kind": "cap", "records": 300})
    run = tap({**config, "window_days": 3650}, catalog=LEADS).succeeded()
    assert loaded(run) == ids(sandbox)
    assert run.stderr.count("leaves out old records when it is asked for all") == 1
    full = only("leads")
    entries(full)["leads"]["replication_method"] = "FULL_TABLE"
    run = tap(config, catalog=full).succeeded()
    assert len(loaded(run)) == 300
    assert run.stderr.count("A query ended after 300 records with a page as full") == 1


@pytest.mark.parametrize(
    ("stream", "name", "fields"),
    [
        ("monitored_leads", "latest_activity", {}),
        ("observations", "observed_at", {}),
        # It was found in the last month, as all of the list.
        ("leads", "date_found", {"signal": {"observed_at": "1971-01-01T00:00:00Z"}}),
    ],
)
def test_a_list_of_the_last_month_is_noticed_where_records_do_not_show_it(
    requests_mock: requests_mock.Mocker,
    tap: RunTap,
    stream: str,
    name: str,
    fields: dict[str, Any],
) -> None:
    month_ago = (datetime.now(UTC) - timedelta(days=29)).isoformat()

    def respond(request: Any, _: Any) -> dict[str, Any]:
        asked = request.json()
        is_list = asked.keys() == {"cursor"}
        end = asked.get(name, {}).get("end_time", "now" if is_list else "")
        record = {**fields, "id": "old" if end < month_ago else "new"}
        return {"data": [record] if end > "2000" else [], "cursor": {"has_more": False}}

    requests_mock.post(f"{VALID['base_url']}{PATHS[stream]}", json=respond)
    run = tap({**VALID, "window_days": 3650}, catalog=only(stream)).succeeded()
    assert {record["id"] for record in run.records(stream)} == {"old", "new"}


def test_a_list_that_leaves_out_what_a_long_range_leaves_out_too(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap
) -> None:
    restart(sandbox, sizes={"leads": 40}, since=SINCE)
    sandbox.faults({"kind": "cut_range", "days": 30})
    run = tap(config, catalog=LEADS).succeeded()
    assert loaded(run) == ids(sandbox)


def test_a_complete_list_is_checked_by_two_requests_a_range(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap
) -> None:
    restart(sandbox, sizes={"leads": 250}, since=SINCE)
    run = tap(config, catalog=LEADS).succeeded()
    assert loaded(run) == ids(sandbox)
    assert run.stderr.count("WARNING") == 1, "of the clocks"
    bodies = [request["body"] for request in sandbox.requests()]
    assert [[*body][-2:] for body in bodies] == [
        *[["cursor"]] * 3,
        *[["date_found", "cursor"], ["latest_signal", "cursor"]] * 2,
    ]
    found = [body["date_found"] for body in bodies if "date_found" in body]
    since_1970 = [each["start_time"].startswith("1970") for each in found]
    assert since_1970 == [False, True], "an API may refuse or cut more than a month"


def test_a_list_whose_older_records_cannot_be_asked_for_is_read_with_a_warning(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap
) -> None:
    restart(sandbox, sizes={"leads": 50}, since=SINCE)
    sandbox.faults({"kind": "status", "status": 400, "skip": 1})
    run = tap(config, catalog=LEADS).succeeded()
    assert loaded(run) == ids(sandbox)
    assert "nobody knows whether it has left out some" in run.stderr


def test_a_lead_in_two_sheets_gives_one_warning(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap
) -> None:
    restart(sandbox, sizes={"leads": 250}, since=SINCE)
    sandbox.faults({"kind": "two_sheets"})
    run = tap({**config, "start_date": SINCE}, catalog=LEADS).succeeded()
    assert run.stderr.count("came several times on one page") == 1
    assert "they differ in sheet;" in run.stderr


def test_a_chain_that_turns_in_a_circle_fails(
    sandbox: Sandbox, config: dict[str, Any], tap: RunTap
) -> None:
    restart(sandbox, sizes={"leads": 500}, since=SINCE)
    sandbox.faults({"kind": "circle"})
    assert "page 4 repeats all records" in tap(config, catalog=LEADS).failed()
