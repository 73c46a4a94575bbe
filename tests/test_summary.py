"""The lines at the end of a run."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from tap_leadintent.api.limits import Tally
from tap_leadintent.summary import Outcome, WarningCounter, describe, describe_failures
from tests.support.helpers import declared_stream
from tests.support.model import Api, Lead, Version, iso
from tests.support.model_runs import run
from tests.support.store import Store

DAY = 86400


def day(number: int) -> str:
    return f"2026-01-{number:02}T00:00:00Z"


def test_a_full_table() -> None:
    stream = declared_stream("signal_agents")
    stream.tally = Tally(records=3, requests=2, retries=1, seconds_waited=0.26)
    expected = (
        "signal_agents: 3 records, 2 requests, 1 retry, 0.3 s waited, 0 warnings; "
        "2.0 s, 2 records a second"
    )
    assert describe(stream, None, 2, WarningCounter()) == expected


@pytest.mark.parametrize(
    ("before", "coverage", "ending"),
    [
        (None, [], "nothing is covered yet"),
        (
            None,
            [("date_found", 1, 2)],
            f"covered up to {day(2)}, before this run nothing was",
        ),
        (day(2), [("date_found", 1, 2)], f"covered up to {day(2)}, as before"),
        (
            day(1),
            [("date_found", 1, 2), ("date_found", 3, 4), ("latest_signal", 1, 9)],
            f"covered up to {day(4)}, before this run up to {day(1)}",
        ),
    ],
)
def test_a_bookmark(
    before: str | None, coverage: list[tuple[str, int, int]], ending: str
) -> None:
    stream = declared_stream("leads")
    stream.stream_state["coverage"] = [
        {"range": name, "from": day(start), "to": day(end)}
        for name, start, end in coverage
    ]
    assert describe(stream, before, 1, WarningCounter()).endswith(f"; {ending}")


def test_what_takes_no_time_has_a_rate_all_the_same() -> None:
    told = describe(declared_stream("signal_agents"), None, 0, WarningCounter())
    assert told.endswith("0.0 s, 0 records a second")


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
    told = {
        name: describe(declared_stream(name), None, 1, counter)
        for name in ("leads", "observations", "monitored_leads")
    }
    assert "2 warnings" in told["leads"]
    assert "1 warning;" in told["observations"]
    assert "0 warnings" in told["monitored_leads"]


@pytest.mark.parametrize(
    ("failures", "ended", "line"),
    [
        ({"leads": "leads: HTTP 403"}, {}, "leads: HTTP 403"),
        (
            {"leads": "leads: HTTP 403", "observations": "observations: HTTP 403"},
            {},
            "leads, observations: HTTP 403",
        ),
        (
            {"leads": "leads: HTTP 403", "observations": "observations: HTTP 500"},
            {},
            "leads: HTTP 403; observations: HTTP 500",
        ),
        (
            {"leads": "leads: HTTP 401"},
            {"not_tried": ["observations", "signal_agents"], "base_url": "https://a.b"},
            (
                "leads: HTTP 401; not tried after that: observations, signal_agents; "
                "base_url is https://a.b"
            ),
        ),
        (
            {"leads": "leads: HTTP 401"},
            {"base_url": "https://a.b"},
            "leads: HTTP 401; base_url is https://a.b",
        ),
    ],
)
def test_failures(failures: dict[str, str], ended: dict[str, Any], line: str) -> None:
    told = describe_failures(Outcome(7, failures, **ended))
    assert told == f"{len(failures)} of 7 streams failed: {line}"


def test_a_run_ends_with_a_line_for_each_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    leads = [Lead(f"lead-{n}", n * 60, [Version(n * 60, n * 60)]) for n in range(25)]
    api, store = Api(now=DAY, leads=leads), Store()
    config: dict[str, Any] = {"start_date": iso(0), "page_size": 10, "window_days": 9}
    with caplog.at_level(logging.INFO):
        run(api, store, config)
        first = [line for line in caplog.messages if "requests, " in line]
        caplog.clear()
        api.now = 2 * DAY
        run(api, store, config)
        second = [line for line in caplog.messages if "requests, " in line]
    a_time = r"\d+\.\d s"
    line, total = first
    assert re.fullmatch(
        r"leads: 25 records, \d+ requests, 0 retries, 0\.0 s waited, 1 warning; "
        rf"{a_time}, [\d,]+ records a second; 100 % of latest_signal; "
        r"covered up to 2026-03-02T00:00:00Z, before this run nothing was",
        line,
    )
    assert re.fullmatch(
        rf"1 stream, 25 records, \d+ requests, 1 warning in {a_time}", total
    )
    line, _ = second
    assert line.endswith(
        "; 100 % of latest_signal; covered up to 2026-03-03T00:00:00Z, "
        "before this run up to 2026-03-02T00:00:00Z"
    )
