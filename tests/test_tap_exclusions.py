"""Excluded fields are in nothing that a run writes, whatever else is configured."""

import json

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import Json, RunTap, entries, only
from tests.support.model import DAY, Api, Lead, steady
from tests.support.model_runs import run
from tests.support.store import Store

SECRET = "Ada Lovelace"  # noqa: S105 - what a user wants kept out
NAMES = [
    "full_name",
    "company.name",
    "company.contact.email",
    "new",
    "a.b",
]
NAMES += ["qualification.references.url"]
CONTACT = {"email": SECRET, "n": 1}
LEAD = {
    "id": "odd",
    "full_name": SECRET,
    "company": {
        "name": SECRET,
        "domain": "d",
        "contact": CONTACT,
    },
    "qualification": {"references": [{"url": SECRET, "label": "kept"}]},
    "new": {"x": SECRET},
    "a.b": SECRET,
}
FLAT = {"flattening_enabled": True, "flattening_max_depth": 2}
MAPS = {"stream_maps": {"leads": {"x": "country_code"}}}


@pytest.mark.parametrize(
    "config_",
    [{}, FLAT, MAPS],
    ids=["plain", "flat", "mapped"],
)
@pytest.mark.parametrize(
    "given",
    [True, False],
    ids=["catalog", "no catalog"],
)
def test_a_run(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    config_: Json,
    *,
    given: bool,
) -> None:
    sandbox.configure(
        api_key=config["api_key"],
        sizes={"leads": 0},
    )
    sandbox.insert(
        "leads",
        LEAD,
        {
            **LEAD,
            "id": "odder",
            "company": [LEAD["company"]],
        },
    )
    excluded = {
        **config,
        **config_,
        "exclude_fields": {"leads": NAMES},
    }
    done = tap(excluded, catalog=only("leads") if given else None).succeeded()
    assert SECRET not in done.stdout + done.stderr
    assert "kept" in done.stdout
    assert len(done.records("leads")) == 2
    assert "full_name" not in json.dumps(done.schema("leads"))


def test_discovery_has_no_column_for_them(tap: RunTap, config: Json) -> None:
    config |= {"exclude_fields": {"leads": NAMES}}
    discovered = entries(json.loads(tap(config, "--discover").succeeded().stdout))
    leads = discovered["leads"]["schema"]["properties"]
    assert "full_name" not in json.dumps(discovered["leads"])
    assert "domain" in leads["company"]["properties"]
    assert "name" not in leads["company"]["properties"]
    references = leads["qualification"]["properties"]["references"]["items"]
    assert references["properties"].keys() == {"type", "label"}


def test_a_content_key_leaves_out_excluded_fields(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    sandbox.configure(
        api_key=config["api_key"],
        sizes={"monitored_leads": 0},
    )
    sandbox.insert("monitored_leads", {"lead_id": SECRET, "n": 1})
    config["exclude_fields"] = {"monitored_leads": ["lead_id"]}
    done = tap(config, catalog=only("monitored_leads")).succeeded()
    (row,) = done.records("monitored_leads")
    assert SECRET not in done.stdout
    assert len(row["record_key"]) == 64
    assert row["additional_properties"] == {"n": 1}


def test_the_field_of_a_time_range_may_be_excluded() -> None:
    """The guard against servers that ignore ranges looks at it all the same."""
    leads = []
    for number, one in enumerate(steady(30)):
        lead = Lead(f"{number}", number, one.versions)
        leads.append(lead)
    config = {
        "exclude_fields": {"leads": ["signal"]},
        "start_date": "2026-03-01",
    }
    api = Api(
        now=DAY,
        leads=leads,
    )
    store = Store()
    assert run(api, store, config)
    api.now += DAY
    assert run(api, store, config)
    assert store.rows.keys() == {lead.id for lead in leads}
