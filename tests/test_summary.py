"""The lines at the end of a run."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tap_leadintent.api.retry import Tally
from tap_leadintent.summary import Outcome, WarningCounter, describe, describe_failures
from tests.support.helpers import declared_stream
from tests.support.model import Api, Lead, Version, iso, run
from tests.support.store import Store

DAY = 86400


def test_a_full_table() -> None:
    stream = declared_stream("signal_agents")
    stream.tally = Tally(records=3, requests=2, retries=1, seconds_waited=0.26)
    expected = (
        "signal_agents: 3 records, 2 requests, 1 retries, 0.3 s waited, 0 warnings"
    )
    assert describe(stream, None, WarningCounter()) == expected


@pytest.mark.parametrize(
    ("began", "coverage", "ending"),
    [
        (None, [], "covered to nothing before, to nothing now"),
        (None, [("date_found", "a", "b")], "covered to nothing before, to b now"),
        (
            "a",
            [
                ("date_found", "a", "b"),
                ("date_found", "c", "d"),
                ("latest_signal", "a", "x"),
            ],
            "covered to a before, to d now",
        ),
    ],
)
def test_a_bookmark(
    began: str | None, coverage: list[tuple[str, str, str]], ending: str
) -> None:
    stream = declared_stream("leads")
    names = ("range", "from", "to")
    stream.stream_state["coverage"] = [
        dict(zip(names, entry, strict=True)) for entry in coverage
    ]
    assert describe(stream, began, WarningCounter()).endswith(f", {ending}")


def test_warnings_are_counted_for_each_stream() -> None:
    counter = WarningCounter()
    tap = logging.getLogger("tap-leadintent")
    tap.addHandler(counter)
    try:
        for level in (logging.INFO, logging.WARNING, logging.WARNING, logging.ERROR):
            logging.getLogger("tap-leadintent.leads").log(level, "so")
        logging.getLogger("tap-leadintent.observations").warning("so")
    finally:
        tap.removeHandler(counter)
    assert "2 warnings" in describe(declared_stream("leads"), None, counter)
    assert "1 warnings" in describe(declared_stream("observations"), None, counter)
    assert "0 warnings" in describe(declared_stream("monitored_leads"), None, counter)


@pytest.mark.parametrize(
    ("failures", "not_tried", "line"),
    [
        ({"leads": "leads: HTTP 403"}, [], "1 of 7 streams failed: leads: HTTP 403"),
        (
            {"leads": "leads: HTTP 401", "observations": "observations: HTTP 401"},
            [],
            "2 of 7 streams failed: leads, observations: HTTP 401",
        ),
        (
            {"leads": "leads: HTTP 401", "observations": "observations: HTTP 500"},
            [],
            "2 of 7 streams failed: leads: HTTP 401; observations: HTTP 500",
        ),
        (
            {"leads": "leads: HTTP 401"},
            ["observations", "monitored_leads"],
            (
                "1 of 7 streams failed: leads: HTTP 401; not tried after that: "
                "observations, monitored_leads"
            ),
        ),
    ],
)
def test_failures(failures: dict[str, str], not_tried: list[str], line: str) -> None:
    assert describe_failures(Outcome(7, failures, not_tried)) == line


def test_a_run_ends_with_a_line_for_each_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    leads = [Lead(f"lead-{n}", n * 60, [Version(n * 60, n * 60)]) for n in range(25)]
    api, store = Api(now=DAY, leads=leads), Store()
    config: dict[str, Any] = {"start_date": iso(0), "page_size": 10, "window_days": 9}
    with caplog.at_level(logging.INFO):
        run(api, store, config)
        first = [line for line in caplog.messages if "records, " in line]
        caplog.clear()
        api.now = 2 * DAY
        run(api, store, config)
        second = [line for line in caplog.messages if "records, " in line]
    (line,) = first
    assert line == (
        "leads: 25 records, 3 requests, 0 retries, 0.0 s waited, 1 warnings, "
        "covered to nothing before, to 2026-03-02T00:00:00Z now"
    )
    (line,) = second
    assert line.endswith(
        "covered to 2026-03-02T00:00:00Z before, to 2026-03-03T00:00:00Z now"
    )
