"""The setting `exclude_fields`: slips are refused before anything is sent."""

from __future__ import annotations

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID, entries, only

KEY = "cannot be left out: it is part of the stream's key"
MADE = "cannot be left out: the stream's key record_key is made from it"


@pytest.mark.parametrize(
    ("stream", "names"),
    [
        ("leads", ["full_name", "company.name", "qualification.references.url"]),
        ("leads", ["company.industry", "company.size", "new", "new.er", "title.x"]),
        ("leads", ["signal", "signal.observed_at", "additional_properties"]),
        ("signal_accounts", ["signal.observed_at", "domain", "name", "account_id"]),
    ],
)
def test_what_may_be_meant_is_accepted(stream: str, names: list[str]) -> None:
    config = {**VALID, "exclude_fields": {stream: names}}
    assert TapLeadIntent(config=config).config["exclude_fields"] == {stream: names}


@pytest.mark.parametrize(
    ("key", "names", "line"),
    [
        (["id", "title"], ["title"], f"title {KEY}"),
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
