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
    for case in ("no", "yes", "both")
    if case in question.cases and not question.cases[case].meaning
} | {"Which limits do headers name?": "none"}
"""What the sandbox answers without a switch."""


def on(kind: str, **fields: int) -> Json:
    return {"kind": kind, **fields}


Switch = tuple[str, str, str, str, Json]
LEADS, LISTED = "leads.latest_signal", "monitored_accounts"
ACTIVE = "monitored_accounts.latest_activity"
FORBIDDEN = status(403, stream="custom_signals")
LIMITED = {"kind": "page", "status": 200, "headers": {"X-RateLimit-Limit": "60"}}
REFUSED = status(429, skip=9, times=1, headers={"Retry-After": "0"})
CUT, CAPPED = "no, it is cut without an error", "no, it ends after"
SWITCHES: list[Switch] = [
    # The question, what it is about, the answer, what to do, and the switch.
    ("restricts", LEADS, "no, it is ignored", "FULL", on("ignored_range")),
    ("restricts", ACTIVE, "no, it is ignored", "", on("ignored_range")),
    ("includes_ends", LEADS, "no", "", on("open_range")),
    ("is_rounded", LEADS, "yes, to days", "", on("rounded_range", seconds=86_400)),
    ("is_rounded", LEADS, "yes, to minutes", "", on("rounded_range", seconds=60)),
    ("may_be_a_window_wide", LEADS, CUT, "window_days 7", on("cut_range", days=7)),
    ("may_be_a_year_wide", LEADS, CUT, "", on("cut_range", days=30)),
    ("reaches_back", "leads", "no, to ", "start_date 2026", on("kept_days", days=90)),
    ("are_pages_full", "leads", "no, 50", "size 50", on("short_page", records=50)),
    ("is_list_complete", "leads", f"{CAPPED} 150 ", "", on("cap", records=150)),
    ("is_list_complete", LISTED, f"{CAPPED} 50", "INCREMENTAL", on("cap", records=50)),
    ("is_list_complete", LISTED, "no", "INCREMENTAL", on("short_list")),
    ("returns_newest_signal", "leads", "no, an ear", "", on("first_signals")),
    ("are_keys_unique", "leads", "no, ", "docs/recipes", on("two_sheets")),
    ("is_clock_right", "", "no, it differs ", "correct", on("wrong_clock")),
    ("may_read", "custom_signals", "no (HTTP 403)", "or deselect", FORBIDDEN),
    ("has_new_fields", "leads", "insight", "", on("more_fields")),
    ("has_other_fields", "leads", "total", "", on("more_fields")),
    ("speaks_of_limits", "", "x-ratelimit-limit (60)", "", LIMITED),
    ("speaks_of_limits", "", "retry-after; 1 request got 429", "set max_", REFUSED),
]


def test_the_sandbox_does_what_is_described(found: Found, settings: Json) -> None:
    report, rows = found(settings)
    for (question, about), row in rows.items():
        is_open = row["verdict"] == "unknown" or question == RIGHT_CLOCK
        if not is_open and question != "Fields that are not documented?":
            expected, _, _ = ORDINARY[question].partition("{")
            assert row["answer"].startswith(expected), (question, about)
    assert {question for question, _ in rows} == {q.text for q in QUESTIONS.values()}
    assert not report["commands"]


@pytest.mark.parametrize("row", SWITCHES, ids=repr)
def test_a_question_notices_its_switch(
    found: Found, sandbox: Sandbox, settings: Json, row: Switch
) -> None:
    name, about, answer, action, fault = row
    sandbox.faults(fault)
    streams = {"signal_agents", about.partition(".")[0] or "leads"}
    report, rows = found(settings, *(f"--stream={each}" for each in streams))
    finding = rows[QUESTIONS[name].text, about]
    assert finding["answer"].startswith(answer)
    assert (finding["meaning"] != "") is (finding["verdict"] == "differs")
    assert action in finding["action"]
    assert bool(action) is bool(finding["action"])
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
    assert ("Is a list as complete as its time ranges?", "leads") not in rows
