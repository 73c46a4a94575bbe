"""The setting `exclude_fields`: slips are refused before anything is sent."""

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID, entries, only


def test_what_may_be_meant_is_accepted() -> None:
    names = {
        "leads": ["company.name", "qualification.references.url", "signal", "new.er"],
        "signal_accounts": ["signal.observed_at", "domain", "account_id"],
    }
    config = {**VALID, "exclude_fields": names}
    assert TapLeadIntent(config=config).config["exclude_fields"] == names


@pytest.mark.parametrize(
    ("key", "name", "field"),
    [
        ("title", "title", "title"),
        ("signal_observed_at", "signal", "signal.observed_at"),
    ],
)
def test_a_key_that_a_catalog_declares(key: str, name: str, field: str) -> None:
    catalog = only("leads")
    entries(catalog)["leads"]["key_properties"] = ["id", key]
    config = {**VALID, "exclude_fields": {"leads": [name]}}
    with pytest.raises(ConfigError) as caught:
        TapLeadIntent(config=config, catalog=catalog)
    (problem,) = caught.value.errors
    assert problem.startswith(f"exclude_fields.leads: {field} cannot be removed, as ")


def test_a_column_that_a_catalog_keys_the_stream_on_no_more() -> None:
    catalog = only("leads")
    entries(catalog)["leads"]["key_properties"] = ["full_name"]
    config = {**VALID, "exclude_fields": {"leads": ["id"]}}
    leads = TapLeadIntent(config=config, catalog=catalog).streams["leads"]
    assert "id" not in leads.effective_schema["properties"]
