"""What is logged about a stream: bounded, printable and once."""

import json
import logging

import pytest

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.singer.log import hide
from tests.support.helpers import API_KEY, Json, RunTap, last_page, only, status


def test_a_line_is_bounded_and_printable_whatever_a_server_returns(
    caplog: pytest.LogCaptureFixture,
) -> None:
    findings = Findings(logging.getLogger("findings"), is_documented=True)
    for number in range(1_200):
        names = [f"{number}\n{API_KEY}" * 100, "common"]
        findings.note(Finding.UNKNOWN_FIELDS, names)
    names = ["a_name_of_more_than_20_letters", API_KEY.encode().hex()]
    findings.note(Finding.UNKNOWN_FIELDS, names)
    hide(API_KEY)
    findings.log()
    (line,) = caplog.messages
    assert line.startswith(
        "1,000 fields without a column, only in additional_properties: 0"
    )
    assert len(line) < 1_300
    assert "\n" not in line
    assert API_KEY[:8] not in line


def test_each_finding_is_logged_once_with_all_its_names(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    findings = Findings(logging.getLogger("findings"), is_documented=True)
    for page in ([], ["total"], ["total", "took"]):
        findings.note(Finding.ENVELOPE, page)
    findings.log()
    assert caplog.messages == [
        "Pages of the API also have took, total, which its description does not show"
    ]


def test_what_a_run_has_named_is_not_repeated_by_later_runs(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    records = [{"id": f"{n}", "new": n} for n in range(100)]
    body = last_page(*records, took=1)
    sandbox.faults(status(200, body=body))
    config |= {
        "page_size": 100,
        "exclude_fields": {"custom_signals": ["emial"]},
    }
    texts = (
        "1 field without a column, only in additional_properties: new;",
        "Check exclude_fields, as no record has emial",
        "Pages of the API also have took,",
        "The list ended after 100 records",
    )
    first = tap(config, catalog=only("custom_signals")).succeeded()
    for text in texts:
        assert text in first.stderr
    again = tap(
        config,
        catalog=only("custom_signals"),
        state=first.state,
    ).succeeded()
    assert len(again.records("custom_signals")) == 100
    for text in texts:
        assert text not in again.stderr


def test_names_that_may_be_data_are_not_in_the_state(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    names = [
        "ada@example.com",
        "+49 170 1234567",
        "2026-01-31",
        "1.5",
        "x" * 101,
    ]
    record = {
        "id": "a",
        **dict.fromkeys([*names, "größe", "x" * 100], 1),
    }
    body = last_page(
        record,
        **{"7": 1, "took": 1},
    )
    sandbox.faults(status(200, body=body))
    run = tap(config, catalog=only("custom_signals")).succeeded()
    assert "ada@example.com" in run.stderr
    state = run.state["bookmarks"]["custom_signals"]
    assert ["größe", "took", "x" * 100] in state.values()
    assert "1.5" not in json.dumps(run.state)
    assert "@" not in json.dumps(run.state)


def test_an_excluded_field_that_no_record_has_is_named_in_a_later_run_too(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    """A user may set `exclude_fields` after the first load."""
    sandbox.configure(
        api_key=config["api_key"],
        sizes={"leads": 120},
    )
    part = tap(
        {**config, "end_date": "2026-01-01"},
        catalog=only("leads"),
    ).succeeded()
    assert part.records("leads")
    config |= {"exclude_fields": {"leads": ["profile.ulr", "title"]}}
    again = tap(
        config,
        catalog=only("leads"),
        state=part.state,
    ).succeeded()
    assert len(again.records("leads")) >= 100
    assert "as no record has profile.ulr\n" in again.stderr


def test_a_total_of_everything_says_nothing_of_a_range(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    sandbox.faults(status(200, body=last_page(total=5_000)))
    assert "has brought" not in tap(config, catalog=only("leads")).succeeded().stderr
