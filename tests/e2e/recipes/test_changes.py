"""The commands of the pages about columns and recipes, in Meltano projects."""

import json
from hashlib import sha256

import pytest

from tap_leadintent.sandbox import running_sandbox
from tests.support.helpers import STREAMS, UNDOCUMENTED, raw_records
from tests.support.postgres import rows_of
from tests.support.rows import expected_rows, without
from tests.support.runs import CLOCK
from tests.support.walk import RUN, SINCE, SIZES, Walk, lines_of

pytestmark = pytest.mark.long


def test_typed_columns(walk: Walk) -> None:
    heading = "## Typed columns for undocumented streams"
    inferred, by_hand = lines_of("columns.md", heading)
    walk.shell(inferred)
    schema = walk.shell.plugin("extractors")["schema"]
    assert schema.keys() == UNDOCUMENTED
    confidence = {"type": ["number", "null"]}
    assert schema["observations"]["confidence"] == confidence
    # Another type tells that the command sets it, and the others that it keeps them.
    text = {"type": ["string", "null"]}
    walk.shell(by_hand.replace("number", "string"))
    schema["observations"]["confidence"] = text
    assert walk.shell.plugin("extractors")["schema"] == schema


def test_masking(walk: Walk) -> None:
    for name in ("known", "gone"):
        person = {"id": name, "email": f"{name}@example.com"}
        walk.sandbox.insert("monitored_leads", person, activity_at=SINCE)
    masked, refresh = lines_of("columns.md", "## Masking")
    title = {"monitored_leads": {"title": {"type": ["string", "null"]}}}
    walk.shell(f"meltano config set tap-leadintent _schema '{json.dumps(title)}'", RUN)
    walk.sandbox.remove("monitored_leads", "gone")
    (erased,) = lines_of("recipes.md", "## A person who must not come back")
    walk.shell(
        erased,
        masked,
        erased.replace("lead_123", "lead_124"),
        refresh,
    )
    schema = walk.shell.plugin("extractors")["schema"]
    assert schema["monitored_leads"].keys() == {"title", "email"}
    assert walk.shell.config()["stream_maps"].keys() == {"leads", "monitored_leads"}
    printed = walk.shell("meltano config print tap-leadintent 2> /dev/null")
    values = json.loads(printed)["stream_map_config"]
    assert values["secret"] == "a long random text"  # noqa: S105 - that of the page
    assert len(values["erased"]) == 2
    assert walk.tables_with("gone@") == ["monitored_leads"]
    walk.clean("columns.md", "## Masking")
    assert walk.tables_with("known@") == walk.tables_with("gone@") == []
    rows = walk.tables()["monitored_leads"]
    secret = b"a long random text"
    digest = sha256(secret + b"known@example.com").hexdigest()
    assert rows["known"]["email"] == digest


def test_left_out_fields(walk: Walk) -> None:
    """Also fields that have a column by now, and one that had a column once."""
    references = [
        {"url": "of.example/ada", "text": "Ada"},
        {"text": "no url"},
    ]
    person = {
        "full_name": "Ada Byron",
        "profile": {"url": "of.example/ada"},
    }
    lead = {
        "id": "l",
        **person,
        "qualification": {"references": references},
    }
    walk.sandbox.insert("leads", lead, found_at=SINCE)
    monitored = {
        "id": "m",
        "email": "ada@example.com",
        **person,
    }
    walk.sandbox.insert("monitored_leads", monitored, activity_at=SINCE)
    (typed, _) = lines_of("columns.md", "## Typed columns for undocumented streams")
    (history,) = lines_of("recipes.md", "## Keep earlier signals of a lead")
    heading = "## Keeping names and personal data out"
    (excluded, _) = lines_of("columns.md", heading)
    (statements,) = lines_of("columns.md", "### Rows that were loaded before")
    excluded = excluded.replace(
        '"profile.url"',
        '"profile.url", "qualification.references.url"',
    )
    walk.shell(typed, history, RUN)
    walk.shell.forget("schema")
    names = walk.ask("SELECT count(full_name) FROM tap_leadintent.monitored_leads")
    assert names == [(SIZES["monitored_leads"] + 1,)]
    before = walk.tables()
    walk.shell(excluded, RUN, statements)
    tables = [
        "leads",
        "leads_history",
        "monitored_leads",
    ]
    assert sorted(walk.tables_with("Ada Byron")) == tables
    walk.ask((walk.shell.project / "output/clear.sql").read_text("utf-8"))
    for value in ("Ada Byron", "ada@example.com"):
        assert walk.tables_with(value) == []
    names = walk.ask("SELECT count(full_name) FROM tap_leadintent.monitored_leads")
    assert names == [(0,)]
    assert walk.tables_with("of.example/ada") == ["monitored_leads"], "nobody named it"
    after = walk.tables()
    texts = [{"text": "Ada"}, {"text": "no url"}]
    assert after["leads"]["l"]["qualification"] == {"references": texts}
    kept = without("full_name", "email", "profile", "qualification")
    for table in ("leads", "leads_history"):
        for key, row in after[table].items():
            assert kept(row) == kept(before[table][key])


def test_schedules(walk: Walk) -> None:
    (hourly,) = lines_of("recipes.md", "### Leads every hour, the rest every night")
    (refresh,) = lines_of("recipes.md", "### A full re-read on schedule")
    (streams,) = lines_of("recipes.md", "## Only some streams")
    assert "1 stream, " in walk.shell(hourly)
    assert walk.tables()["leads"], "it has no schema of its own"
    walk.shell.forget("select")
    walk.shell(streams)
    assert walk.shell.plugin("extractors")["select"] == ["leads.*"]
    assert "1 stream, " in walk.shell(refresh)


def test_filters_and_leaving_accounts(walk: Walk) -> None:
    (filters,) = lines_of("recipes.md", "## Only some leads")
    (leaving,) = lines_of("recipes.md", "## Accounts that left the queue")
    (reset,) = lines_of("state.md", "## Reset one stream")[:1]
    walk.shell(RUN)
    before = walk.tables()["leads"]
    walk.shell(filters, reset, leaving)
    account = raw_records(walk.sandbox, "monitored_accounts")[0]["id"]
    walk.sandbox.remove("monitored_accounts", account)
    wanted = {
        "id": "w",
        "sheet": {"id": "sht_1"},
        "country_code": "AT",
    }
    walk.sandbox.insert("leads", wanted, found_at=SINCE)
    assert "leads: 1 record, " in walk.shell(RUN), "the filters leave it alone"
    table = rows_of(walk.postgres, "tap_leadintent", "monitored_accounts")
    assert [row["id"] for row in table if row["_sdc_deleted_at"]] == [account]
    walk.clean("recipes.md", "## Only some leads")
    assert walk.tables()["leads"].keys() == {"w"}
    walk.shell.forget("filters")
    walk.shell(reset, RUN)
    assert walk.tables()["leads"].keys() == {*before, "w"}


def test_maps(walk: Walk) -> None:
    heading = "## A person who must not come back"
    (history,) = lines_of("recipes.md", "## Keep earlier signals of a lead")
    (erased,) = lines_of("recipes.md", heading)
    (several,) = lines_of("recipes.md", "## Several stream maps")
    for lead in ("lead_123", "lead_124"):
        person = {"id": lead, "full_name": f"Ada {lead}"}
        walk.sandbox.insert(
            "leads",
            person,
            found_at=walk.sandbox.now(),
        )
    walk.shell(history, RUN)
    tables = walk.tables()
    assert tables["leads"] == expected_rows(walk.sandbox, "leads")
    with_key = tables["leads_history"]
    assert with_key.keys() == tables["leads"].keys()
    without_key = without("signal_key")
    for key, row in tables["leads"].items():
        assert without_key(with_key[key]) == row
    of_history = erased.splitlines()[-1].replace(" leads ", " leads_history ")
    walk.shell(erased, of_history, several, RUN)
    both = ["leads", "leads_history"]
    assert sorted(walk.tables_with("lead_123")) == both
    walk.clean("recipes.md", heading)
    walk.ask("DELETE FROM tap_leadintent.leads_history WHERE id = 'lead_123'")
    assert walk.tables_with("lead_123") == []
    walk.clean("recipes.md", "## Several stream maps")
    assert walk.tables_with("Ada lead_124") == []
    assert sorted(walk.tables_with("lead_124")) == both


def test_organizations(walk: Walk) -> None:
    acme_lines, column = lines_of("recipes.md", "## Several organizations")
    with running_sandbox() as acme:
        sizes = dict.fromkeys(STREAMS, 10)
        acme.configure(
            api_key="of-acme-1",
            clock=CLOCK,
            since=SINCE,
            sizes=sizes,
        )
        # Another organization has its own key, and here also its own address.
        there = f"export TAP_LEADINTENT_ACME_BASE_URL={acme.url}"
        lines = acme_lines.replace("the key of Acme", "of-acme-1")
        refresh = "meltano run --full-refresh tap-leadintent-acme target-postgres"
        walk.shell(there, lines, column, RUN, refresh)
    tables = walk.tables("acme")
    assert tables.keys() == {*STREAMS}
    for rows in tables.values():
        assert len(rows) == 10
        for row in rows.values():
            assert row["organization"] == "acme"
    walk.clean("recipes.md", "## Several organizations")
    counts = "SELECT organization, count(*) FROM leads_of_all GROUP BY 1 ORDER BY 1"
    assert walk.ask(counts) == [
        ("acme", 10),
        ("first", SIZES["leads"]),
    ]
