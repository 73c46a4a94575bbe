"""The setting `exclude_fields`: slips are refused before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import (
    VALID,
    each_entry,
    entries,
    only,
)
from tests.support.in_process import run_with_variables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox

NO_FIELD = "there is no such field; did you mean"
KEY = "cannot be left out: it is part of the stream's key"
MADE = "cannot be left out: the stream's key record_key is made from it"
OF_THE_TAP = "additional_properties is made by the tap; did you mean"
REFERENCE = "qualification.references.url"
REPLICATION = "cannot be left out: it is the replication key"

MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"lead": ["full_name"]}, ".lead: there is no such stream; did you mean leads?"),
    ({"invoices": []}, ".invoices: there is no such stream"),
    ({"leads": "full_name"}, ".leads: 'full_name' is not of type 'array'"),
    ({"leads": None}, ".leads: None is not of type 'array'"),
    ({"leads": [7]}, ".leads.0: 7 is not of type 'string'"),
    ({"leads": ["ful_name"]}, f".leads: ful_name: {NO_FIELD} full_name?"),
    ({"leads": ["fullName"]}, f".leads: fullName: {NO_FIELD} full_name?"),
    ({"leads": ["company.nam"]}, f".leads: company.nam: {NO_FIELD} company.name?"),
    ({"leads": ["compny.name"]}, f".leads: compny.name: {NO_FIELD} company.name?"),
    ({"leads": ["company__name"]}, f".leads: company__name: {NO_FIELD} company.name?"),
    (
        {"leads": ["qualification.references.urls"]},
        f".leads: qualification.references.urls: {NO_FIELD} {REFERENCE}?",
    ),
    (
        {"observations": ["observed"]},
        f".observations: observed: {NO_FIELD} observed_at?",
    ),
    ({"leads": ["company.*"]}, ".leads: company.*: takes names, not patterns"),
    (
        {"monitored_leads": ["additional_properties.full_name"]},
        f".monitored_leads: additional_properties.full_name: {OF_THE_TAP} full_name?",
    ),
    ({"leads": ["id"]}, f".leads: id {KEY}"),
    ({"signal_agents": ["id"]}, f".signal_agents: id {KEY}"),
    ({"monitored_leads": ["id"]}, f".monitored_leads: id {MADE}"),
    ({"custom_signals": ["record_key"]}, f".custom_signals: record_key {KEY}"),
    ({"observations": ["observed_at"]}, f".observations: observed_at {REPLICATION}"),
    ({"leads": ["signal_observed_at"]}, f".leads: signal_observed_at {REPLICATION}"),
]  # fmt: skip


@each_entry
@pytest.mark.parametrize(("names", "line"), MISTAKES, ids=[str(n) for n, _ in MISTAKES])
def test_a_mistake_is_one_line_and_no_request(
    refused: Callable[..., list[str]],
    names: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    change = {"exclude_fields": names, "infer_columns": True}
    assert refused(change, *arguments) == [f"exclude_fields{line}"]


@pytest.mark.parametrize(
    "names",
    [
        {"leads": []},
        {"leads": ["full_name", "company.name", "qualification.references.url"]},
        {"leads": ["company.industry", "company.size", "new", "new.er", "title.x"]},
        {"leads": ["signal", "signal.observed_at", "additional_properties"]},
        {"signal_accounts": ["signal.observed_at", "domain", "name", "account_id"]},
        {"monitored_leads": ["full_name", "email", "latest_activity.text"]},
        {"monitored_accounts": ["window_end"]},
    ],
    ids=str,
)
def test_what_may_be_meant_is_accepted(names: dict[str, Any]) -> None:
    config = {**VALID, "exclude_fields": names}
    assert TapLeadIntent(config=config).config["exclude_fields"] == names


@pytest.mark.parametrize(
    ("key", "names", "line"),
    [
        (["id", "title"], ["title"], f"title {KEY}"),
        (["id", "signal_observed_at"], ["signal_observed_at"], "signal_observed_at"),
        (
            ["id", "signal_observed_at"],
            ["signal"],
            MADE.replace("record_key", "signal_observed_at"),
        ),
    ],
)
def test_a_key_that_a_catalog_declares(
    key: list[str], names: list[str], line: str
) -> None:
    catalog = only("leads")
    entries(catalog)["leads"]["key_properties"] = key
    config = {**VALID, "exclude_fields": {"leads": names}}
    with pytest.raises(ConfigError) as caught:
        TapLeadIntent(config=config, catalog=catalog)
    assert len(caught.value.errors) == 1
    assert caught.value.errors[0].startswith("exclude_fields.leads: ")
    assert line in caught.value.errors[0]


def test_a_column_that_a_catalog_keys_the_stream_on_no_more() -> None:
    catalog = only("leads")
    entries(catalog)["leads"]["key_properties"] = ["full_name"]
    config = {**VALID, "exclude_fields": {"leads": ["id"]}}
    leads = TapLeadIntent(config=config, catalog=catalog).streams["leads"]
    assert "id" not in leads.effective_schema["properties"]


def test_from_the_environment(
    tmp_path: Path, sandbox: Sandbox, config: dict[str, Any]
) -> None:
    variables = {
        **{name.upper(): text for name, text in config.items()},
        "EXCLUDE_FIELDS": '{"leads": ["full_name"]}',
    }
    run = run_with_variables(tmp_path, variables).succeeded()
    assert "full_name" not in run.schema("leads")["properties"]
    assert sandbox.records("leads")[0]["full_name"] not in run.stdout
