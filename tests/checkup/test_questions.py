"""Each question has its answer, and another one where the sandbox's switch is on."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tap_leadintent.checkup.check import QUESTIONS
from tap_leadintent.sandbox import Sandbox
from tests.checkup.conftest import RIGHT_CLOCK
from tests.support.helpers import Json, status

Found = Callable[..., tuple[Json, dict[tuple[str, str], Json]]]

ORDINARY: dict[str, str] = {}
"""What the sandbox answers without a switch."""

for _question in QUESTIONS.values():
    for _name in ("no", "yes", "both"):
        _case = _question.cases.get(_name)
        if _case is not None and not _case.meaning:
            ORDINARY[_question.text] = _case.answer
ORDINARY["Which limits do headers name?"] = "none"


def on(kind: str, **fields: int) -> Json:
    return {"kind": kind, **fields}


class Switch(NamedTuple):
    """A switch of the sandbox, and what a question finds where it is on."""

    question: str
    about: str
    answer: str
    action: str
    """What to do; "" for nothing."""
    fault: Json


LEADS = "leads.latest_signal"
LISTED = "monitored_accounts"
ACTIVE = "monitored_accounts.latest_activity"
FORBIDDEN = status(403, stream="custom_signals")
LIMITED = {
    "kind": "page",
    "status": 200,
    "headers": {"X-RateLimit-Limit": "60"},
}
REFUSED = status(
    429,
    skip=9,
    times=1,
    headers={"Retry-After": "0"},
)
CUT = "no, it is cut without an error"
CAPPED = "no, it ends after"
SWITCHES: list[Switch] = [
    Switch(
        question="restricts",
        about=LEADS,
        answer="no, it is ignored",
        action="FULL",
        fault=on("ignored_range"),
    ),
    Switch(
        question="restricts",
        about=ACTIVE,
        answer="no, it is ignored",
        action="",
        fault=on("ignored_range"),
    ),
    Switch(
        question="includes_ends",
        about=LEADS,
        answer="no",
        action="",
        fault=on("open_range"),
    ),
    Switch(
        question="is_rounded",
        about=LEADS,
        answer="yes, to days",
        action="",
        fault=on("rounded_range", seconds=86_400),
    ),
    Switch(
        question="is_rounded",
        about=LEADS,
        answer="yes, to minutes",
        action="",
        fault=on("rounded_range", seconds=60),
    ),
    Switch(
        question="may_be_a_window_wide",
        about=LEADS,
        answer=CUT,
        action="window_days 7",
        fault=on("cut_range", days=7),
    ),
    Switch(
        question="may_be_a_year_wide",
        about=LEADS,
        answer=CUT,
        action="",
        fault=on("cut_range", days=30),
    ),
    Switch(
        question="reaches_back",
        about="leads",
        answer="no, to ",
        action="start_date 2026",
        fault=on("kept_days", days=90),
    ),
    Switch(
        question="are_pages_full",
        about="leads",
        answer="no, 50",
        action="size 50",
        fault=on("short_page", records=50),
    ),
    Switch(
        question="is_list_complete",
        about="leads",
        answer=f"{CAPPED} 150 ",
        action="",
        fault=on("cap", records=150),
    ),
    Switch(
        question="is_list_complete",
        about=LISTED,
        answer=f"{CAPPED} 50",
        action="INCREMENTAL",
        fault=on("cap", records=50),
    ),
    Switch(
        question="is_list_complete",
        about=LISTED,
        answer="no",
        action="INCREMENTAL",
        fault=on("short_list"),
    ),
    Switch(
        question="returns_newest_signal",
        about="leads",
        answer="no, an ear",
        action="",
        fault=on("first_signals"),
    ),
    Switch(
        question="are_keys_unique",
        about="leads",
        answer="no, ",
        action="docs/recipes",
        fault=on("two_sheets"),
    ),
    Switch(
        question="is_clock_right",
        about="",
        answer="no, it differs ",
        action="correct",
        fault=on("wrong_clock"),
    ),
    Switch(
        question="may_read",
        about="custom_signals",
        answer="no (HTTP 403)",
        action="or deselect",
        fault=FORBIDDEN,
    ),
    Switch(
        question="has_new_fields",
        about="leads",
        answer="insight",
        action="",
        fault=on("more_fields"),
    ),
    Switch(
        question="has_other_fields",
        about="leads",
        answer="total",
        action="",
        fault=on("more_fields"),
    ),
    Switch(
        question="speaks_of_limits",
        about="",
        answer="x-ratelimit-limit (60)",
        action="",
        fault=LIMITED,
    ),
    Switch(
        question="speaks_of_limits",
        about="",
        answer="retry-after; 1 request got 429",
        action="set max_",
        fault=REFUSED,
    ),
]


def test_the_sandbox_does_what_is_described(found: Found, settings: Json) -> None:
    report, rows = found(settings)
    for (question, about), row in rows.items():
        is_open = row["verdict"] == "unknown" or question == RIGHT_CLOCK
        if not is_open and question != "Fields that are not documented?":
            expected, _, _ = ORDINARY[question].partition("{")
            assert row["answer"].startswith(expected), (question, about)
    asked = {question for question, _ in rows}
    assert asked == {question.text for question in QUESTIONS.values()}
    assert not report["commands"]


@pytest.mark.parametrize("switch", SWITCHES, ids=repr)
def test_a_question_notices_its_switch(
    found: Found,
    sandbox: Sandbox,
    settings: Json,
    switch: Switch,
) -> None:
    sandbox.faults(switch.fault)
    stream, _, _ = switch.about.partition(".")
    streams = {"signal_agents", stream or "leads"}
    arguments = [f"--stream={each}" for each in streams]
    report, rows = found(settings, *arguments)
    text = QUESTIONS[switch.question].text
    finding = rows[text, switch.about]
    assert finding["answer"].startswith(switch.answer)
    has_meaning = finding["meaning"] != ""
    assert has_meaning is (finding["verdict"] == "differs")
    assert switch.action in finding["action"]
    assert bool(switch.action) is bool(finding["action"])
    assert report["requests"] == len(sandbox.requests()) <= 150


def test_records_that_differ_from_the_description(
    found: Found,
    sandbox: Sandbox,
    settings: Json,
) -> None:
    key = "Ada Lovelace <ada@example.com>"
    odd = {
        "id": "a",
        "score": "high",
        "signal": {"observed_at": None},
        key: 1,
    }
    now = sandbox.now()
    sandbox.configure(
        api_key=settings["api_key"],
        sizes={"leads": 3},
    )
    sandbox.insert(
        "leads",
        odd,
        '{"title": "no id"}',
        found_at=now,
    )
    _, rows = found(settings, "--stream", "leads")
    answers: dict[str, str] = {}
    for (question, _), row in rows.items():
        answers[question] = row["answer"]
    assert answers["Fields of another type?"] == "score"
    assert answers["Fields that are not documented?"] == "1 with unusual names"
    assert answers["Is each key there once?"] == "1 have no id"
    times = answers["Do all records have their time?"]
    assert times.endswith(" have no signal.observed_at")


def test_an_api_that_demands_a_time_range_is_read_by_it(
    found: Found,
    sandbox: Sandbox,
    settings: Json,
) -> None:
    refused_once = status(
        400,
        stream="leads",
        times=1,
    )
    sandbox.faults(refused_once)
    _, rows = found(settings, "--stream", "leads")
    assert rows["May the key read it?", "leads"]["answer"] == "yes"
    assert ("Is a list as complete as its time ranges?", "leads") not in rows
