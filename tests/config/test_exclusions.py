"""The setting `exclude_fields` beside the keys that a catalog declares."""

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID, leads_with


@pytest.mark.parametrize(
    ("keys", "excluded", "field"),
    [
        (["id", "title"], "title", "title"),
        (["id", "signal_observed_at"], "signal", "signal.observed_at"),
        (["full_name"], "id", None),
    ],
)
def test_a_field_can_be_removed_if_no_key_needs_it(
    keys: list[str], excluded: str, field: str | None
) -> None:
    catalog = leads_with(key_properties=keys)
    config = {**VALID, "exclude_fields": {"leads": [excluded]}}
    if field is None:
        leads = TapLeadIntent(config=config, catalog=catalog).streams["leads"]
        assert excluded not in leads.effective_schema["properties"]
        return
    with pytest.raises(ConfigError) as caught:
        TapLeadIntent(config=config, catalog=catalog)
    (problem,) = caught.value.errors
    assert problem.startswith(f"exclude_fields.leads: {field} cannot be removed, as ")
