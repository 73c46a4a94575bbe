"""Each question has its answer, and another one where the sandbox's switch is on."""

from collections.abc import Callable

import pytest

from tap_leadintent.checkup.check import QUESTIONS
from tap_leadintent.sandbox import Sandbox
from tests.checkup.conftest import RIGHT_CLOCK
from tests.support.helpers import Json, status

Found = Callable[..., tuple[Json, dict[tuple[str, str], Json]]]

ORDINARY = {
    question.text: question.cases[case].answer
    for question in QUESTIONS.values()
    for case in ("yes", "both", "no")
    if case in question.cases and not question.cases[case].meaning
} | {"Which headers speak of limits?": "none"}
"""What the sandbox answers without a switch."""

LEADS, LISTED = "leads.latest_signal", "monitored_accounts"
ACTIVE = "monitored_accounts.latest_activity"
SWITCHES: list[tuple[str, str, str, str, Json]] = [
    # The question, what it is about, the answer, what to do, and the switch.
    (
        "Does it restrict?",
        LEADS,
        "no, it is ignored",
        "FULL",
        {"kind": "ignored_range"},
    ),
    ("Does it restrict?", ACTIVE, "no, it is ignored", "", {"kind": "ignored_range"}),
    ("Does it include its ends?", LEADS, "no", "", {"kind": "open_range"}),
    (
        *("Is it rounded?", "leads.date_found", "yes, to days", ""),
        {"kind": "rounded_range", "seconds": 86_400},
    ),
    (
        *("Is it rounded?", LEADS, "yes, to minutes", ""),
        {"kind": "rounded_range", "seconds": 60},
    ),
    (
        *("May it be 30 days wide?", LEADS, "no, it is cut without an error"),
        *("set window_days to 7", {"kind": "cut_range", "days": 7}),
    ),
    (
        *("May it be a year wide?", LEADS, "no, it is cut without an error"),
        *("", {"kind": "cut_range"}),
    ),
    (
        *("Does it reach back ten years?", LEADS, "no, to ", "set start_date to "),
        {"kind": "kept_days", "days": 90},
    ),
    (
        *("Does a page hold 100 records?", "leads", "no, 50", "set page_size to 50"),
        {"kind": "short_page", "records": 50},
    ),
    (
        *("Does a query end at a round number?", "leads", "yes, after 150 records"),
        *("", {"kind": "cap", "records": 150}),
    ),
    (
        *("Does a query end at a round number?", LISTED, "yes, after 50 records"),
        *("INCREMENTAL", {"kind": "cap", "records": 50}),
    ),
    (
        *("Does date_found return the newest signal?", "leads", "no, an earlier one"),
        *("", {"kind": "first_signals"}),
    ),
    (
        *("Is each key there once?", "leads", "no, "),
        *("see docs/recipes", {"kind": "two_sheets", "pages": "last"}),
    ),
    (
        *(RIGHT_CLOCK, "", "no, it differs from this one by ", "correct the clock"),
        {"kind": "wrong_clock", "seconds": 90_000},
    ),
    (
        *(
            "May the key read it?",
            "custom_signals",
            "no (HTTP 403)",
            "ask for the right",
        ),
        status(403, stream="custom_signals"),
    ),
    (
        "Fields that are not documented?",
        "leads",
        "insight",
        "",
        {"kind": "more_fields"},
    ),
    ("Fields beside data and cursor?", "leads", "total", "", {"kind": "more_fields"}),
    (
        *("Does a list hold what its ranges hold?", LISTED, "no", "INCREMENTAL"),
        {"kind": "short_list"},
    ),
    (
        *("Which headers speak of limits?", "", "x-ratelimit-limit", ""),
        {"kind": "page", "status": 200, "headers": {"X-RateLimit-Limit": "60"}},
    ),
    (
        *(
            "Which headers speak of limits?",
            "",
            "retry-after; 1 requests got 429",
            "set max_",
        ),
        status(429, skip=9, times=1, headers={"Retry-After": "0"}),
    ),
]


def test_the_sandbox_does_what_is_described(found: Found, settings: Json) -> None:
    report, rows = found(settings)
    for (question, about), row in rows.items():
        is_open = row["verdict"] == "unknown" or question == RIGHT_CLOCK
        if not is_open and question != "Fields that are not documented?":
            answer = row["answer"].partition(", newest")[0].partition(", by no")[0]
            assert answer == ORDINARY[question].partition(",")[0], (question, about)
    assert {question for question, _ in rows} == {q.text for q in QUESTIONS.values()}
    assert not report["commands"]


@pytest.mark.parametrize(
    ("question", "about", "answer", "action", "switch"),
    SWITCHES,
)
def test_a_question_notices_its_switch(  # noqa: PLR0913, PLR0917 - a row of the table
    found: Found,
    sandbox: Sandbox,
    settings: Json,
    question: str,
    about: str,
    answer: str,
    action: str,
    switch: Json,
) -> None:
    sandbox.faults(switch)
    streams = {"signal_agents", about.partition(".")[0] or "leads"}
    report, rows = found(settings, *(f"--stream={name}" for name in streams))
    row = rows[question, about]
    assert row["answer"].startswith(answer)
    assert (row["meaning"] != "") is (row["verdict"] == "differs")
    assert action in row["action"]
    assert bool(action) is bool(row["action"])
    assert report["requests"] == len(sandbox.requests()) <= 150


def test_records_that_differ_from_the_description(
    found: Found, sandbox: Sandbox, settings: Json
) -> None:
    now, key = sandbox.now(), "Ada Lovelace <ada@example.com>"
    odd = {"id": "a", "score": "high", "signal": {"observed_at": None}, key: 1}
    sandbox.configure(api_key=settings["api_key"], sizes={"leads": 3})
    sandbox.insert("leads", odd, '{"title": "no id"}', found_at=now)
    _, rows = found(settings, "--stream", "leads")
    answers = {question: row["answer"] for (question, _), row in rows.items()}
    assert answers["Fields of another type?"] == "score"
    assert answers["Fields that are not documented?"] == "1 with unusual names"
    assert answers["Is each key there once?"] == "1 have no id"
    times = answers["Do all records have their time?"]
    assert times.endswith(" have no signal.observed_at")


def test_an_api_that_demands_a_time_range_is_read_by_it(
    found: Found, sandbox: Sandbox, settings: Json
) -> None:
    sandbox.faults(status(400, stream="leads", times=1))
    _, rows = found(settings, "--stream", "leads")
    assert rows["May the key read it?", "leads"]["answer"] == "yes"
    assert ("Does a list hold what its ranges hold?", "leads") not in rows
