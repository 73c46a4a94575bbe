"""`plan` says what the next run reads, and which settings it needs for that."""

import re
from collections.abc import Callable

import pytest

from tests.support.helpers import API_KEY, PREFIX, entries, only
from tests.support.states import (
    NOW,
    about,
    error_of,
    found,
    output_of,
    signal,
    state_of,
)

Settings = Callable[..., str]

LEADS = [
    about("06-01"),
    found("02-01", "03-01"),
    found("03-03", "06-01"),
    signal("04-01", "06-01"),
]
STATE = state_of(leads=LEADS)
EMPTY = state_of(leads=[])
PLAN = f"""\
A run that begins at {NOW} reads:
Each bar is the time from 2026-01-01T00:00:00Z to {NOW}: # read, ~ to be read again, . to be read, - not requested
leads
  date_found      [.............##########.##################################~~]
  date_found from 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z: not read yet
  date_found from 2026-03-01T00:00:00Z to 2026-03-03T00:00:00Z: not read yet
  date_found from 2026-05-29T08:00:00Z to 2026-06-01T00:00:00Z: read again, as some records appear late (lookback_days)
  date_found from 2026-06-01T00:00:00Z to 2026-06-03T00:00:00Z: new since the last run
  date_found: the first run after 2026-06-04T00:00:00Z reads 3 days again
  latest_signal   [...................................~~~~~~~~~~~~~~~~~~~~~~~~~]
  latest_signal from 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z: not read yet
  latest_signal from 2026-04-01T00:00:00Z to 2026-05-29T08:00:00Z: read again, so that the newest signal of each lead is loaded last
  latest_signal from 2026-05-29T08:00:00Z to 2026-06-01T00:00:00Z: read again, as some records appear late (lookback_days)
  latest_signal from 2026-06-01T00:00:00Z to 2026-06-03T00:00:00Z: new since the last run
  latest_signal: the first run after 2026-06-04T00:00:00Z reads 3 days again
"""  # noqa: E501
BOUNDED = f"""\
A run that begins at {NOW} reads:
Each bar is the time from 2026-02-01T00:00:00Z to {NOW}: # read, ~ to be read again, . to be read, - not requested
leads
  date_found      [#############--##########################################---]
  date_found: nothing, because start_date and end_date ask for the time from 2026-02-01T00:00:00Z to 2026-02-15T00:00:00Z
  latest_signal   [------------------------------###########################---]
  latest_signal: nothing, because a run with end_date reads only date_found
"""  # noqa: E501


def plan(
    settings: str,
    *options: str,
    state: object = STATE,
) -> str:
    command = ("plan", "--config", settings, "--stream", "leads")
    return output_of(*command, *options, stdin=state)


def test_each_interval_has_its_reason(settings: Settings) -> None:
    assert plan(settings()) == PLAN
    bounded = settings(
        end_date="2026-02-15",
        start_date="2026-02-01",
    )
    assert plan(bounded) == BOUNDED


def test_with_receipts_it_says_what_can_be_compared(settings: Settings) -> None:
    lines = plan(settings(load_receipts=True)).splitlines()
    counted = [line for line in lines if line not in PLAN.splitlines()]
    time = f"from 2026-01-01T00:00:00Z to {NOW}"
    assert counted == [
        "  date_found: loads then says how many rows the run has written",
        f"  latest_signal {time}: loads then says how many rows the table must have",
    ]
    path = settings(load_receipts=True)
    printed = output_of(
        "plan",
        "--config",
        path,
        "--stream",
        "signal_agents",
        stdin=EMPTY,
    )
    assert printed.splitlines()[2:] == [
        "signal_agents: every run reads all records (full table)",
        "  loads then says how many rows the run has written",
    ]
    bounded = settings(
        load_receipts=True,
        end_date="2026-02-15",
        start_date="2026-02-01",
    )
    assert "loads then says" not in plan(bounded, state=state_of(leads=LEADS))


def test_an_instant_has_been_read_or_will_be(settings: Settings) -> None:
    interval = "from 2026-03-03T00:00:00Z to 2026-06-01T00:00:00Z"
    for instant, text in {
        "2026-03-02": "not read yet; the next run reads it",
        "2025-12-31": "not read yet; the next run does not read it, because "
        f"start_date and end_date ask for the time from 2026-01-01T00:00:00Z to {NOW}",
        "2026-04-15": f"read, with all {interval}; the next run does not read it",
        "2026-05-31": f"read, with all {interval}; the next run reads it: read again,"
        " as some records appear late (lookback_days)",
        "2026-06-02": "not read yet; the next run reads it: new since the last run; "
        "read again by the first run after 2026-06-03T08:00:00Z",
    }.items():
        line, _ = plan(settings(), "--at", instant).splitlines()
        assert line == f"leads: date_found at {instant}T00:00:00Z: {text}"
    first = plan(
        settings(),
        "--at",
        "2026-01-01",
        state=EMPTY,
    )
    assert "not read yet; the next run reads it: first load" in first


def test_filters_and_fields_that_are_left_out_are_named(settings: Settings) -> None:
    filters = {"sheet_ids": ["ä"]}
    excluded = ["full_name", "company.name"]
    maps = {
        "a": {"__source__": "le*", "__filter__": "id"},
        "observations": {},
    }
    path = settings(
        filters={"leads": filters},
        exclude_fields={"leads": excluded},
        stream_maps=maps,
    )
    at = ("--at", "2026-04-15")
    first, second, third, *_ = plan(path, *at, state=EMPTY).splitlines()
    assert first.endswith('only records that match filters.leads: {"sheet_ids": ["ä"]}')
    assert second.endswith(
        "the fields of exclude_fields.leads: full_name, company.name"
    )
    assert third.endswith("only records for which stream_maps.a.__filter__ holds: id")
    assert first.startswith("leads: ")
    listed = plan(path, state=EMPTY).splitlines()
    assert listed[3] == first.replace("leads: ", "  ", 1)


def test_the_environment_gives_the_same_plan_as_a_file(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = settings(
        filters={"leads": {"sheet_ids": ["a"]}},
        lookback_days=0.5,
    )
    for name, value in {
        "START_DATE": "2026-01-01",
        "LOOKBACK_DAYS": "0.5",
        # Meltano writes a setting of its project in both ways.
        "FILTERS": '{"leads.sheet_ids": ["a"]}',
        "FILTERS_LEADS_SHEET_IDS": '["a"]',
        "STREAM_MAPS": '{"leads.full_name": null}',
    }.items():
        monkeypatch.setenv(f"{PREFIX}{name}", value)
    printed = output_of("plan", stdin=STATE)
    assert printed == output_of("plan", "--config", path, stdin=STATE)
    assert "the run fails; go back to the former filters.leads, or load" in printed


def test_settings_are_checked_in_the_same_way_as_by_the_tap(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = settings(
        base_url=f"https://x/{API_KEY}/v1",
        api_key=API_KEY,
    )
    line = error_of("plan", "--config", wrong, stdin=STATE)
    assert line.startswith("base_url: 'https://x/***/v1' ends with /v1: leave that out")
    assert line.endswith("; correct the file that --config names")
    assert API_KEY not in line
    monkeypatch.delenv(f"{PREFIX}BASE_URL")
    line = error_of("plan", stdin=STATE)
    assert line.startswith("base_url: is not set; meltano config set ")
    assert line.endswith("or use `meltano invoke tap-leadintent:state`")


@pytest.mark.parametrize(
    ("select", "select_filter"),
    [
        ('["*.*", "!leads.title", "!*_leads", "!custom*.*"]', '["!obs*"]'),
        ('["leads.id", "*_a*.*"]', ""),
        ('["*.*"]', '["leads", "*_a*", "!x"]'),
    ],
)
def test_only_the_streams_that_meltano_selects_are_planned(
    monkeypatch: pytest.MonkeyPatch,
    select: str,
    select_filter: str,
) -> None:
    for extra, value in {
        "SELECT": select,
        "SELECT_FILTER": select_filter,
        "METADATA_LEADS_REPLICATION_METHOD": "FULL_TABLE",
        "METADATA_MONITORED_ACCOUNTS_REPLICATION_METHOD": "INCREMENTAL",
    }.items():
        monkeypatch.setenv(f"MELTANO_EXTRACT__{extra}", value)
    lines = output_of("plan", stdin=STATE).splitlines()[2:]
    *planned, not_selected = [line for line in lines if line[0] != " "]
    assert planned[:4] == [
        "signal_agents: every run reads all records (full table)",
        "leads: every run reads all records (full table)",
        "signal_accounts",
        "monitored_accounts",
    ]
    expected = "Not selected: observations, custom_signals, monitored_leads"
    assert not_selected.startswith(expected)


def test_a_catalog_selects_streams(
    settings: Settings,
    write: Callable[[str, object], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = only("observations")
    entries(catalog)["observations"]["replication_method"] = "FULL_TABLE"
    printed = plan(
        settings(),
        "--catalog",
        write("catalog.json", catalog),
    )
    assert printed.splitlines()[2:] == ["Not selected: leads"]
    given = ("plan", "--stream", "observations", "--catalog")
    printed = output_of(
        *given,
        write("catalog.json", catalog),
        stdin=STATE,
    )
    assert printed.endswith(
        "\nobservations: every run reads all records (full table)\n"
    )
    line = error_of(*given, settings(), stdin=STATE)
    assert "config.json: it is not a catalog (KeyError); " in line
    monkeypatch.setenv("MELTANO_EXTRACT__SELECT", '"leads.*"')
    assert error_of("plan", stdin=STATE).startswith("MELTANO_EXTRACT__SELECT: ")


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        ("20", 40),
        ("200", 200),
    ],
)
def test_bars_have_the_width_of_the_terminal(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    columns: str,
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = plan(settings()).splitlines()
    bars = [line for line in lines if line[-1] == "]"]
    assert list(map(len, bars)) == [width, width]
    # A gap of two days is not lost in a narrow bar.
    assert re.search(r"#\.+#", bars[0])
