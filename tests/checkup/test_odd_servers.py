"""The check-up on servers of another kind: no wrong answer, whatever they hold.

Each server does one thing in its own way. Each question has the answer of an ordinary
server or the one that this way asks for, or it cannot be settled.
"""

import json
from pathlib import Path

import pytest

from tests.support.check_runs import answers, check_model
from tests.support.helpers import Json
from tests.support.model import DAY, HOUR, Lead, iso, lead, steady
from tests.support.odd_server import Server

NOW = 300 * DAY + 11 * HOUR + 17


def bursts() -> list[Lead]:
    """Return leads of five imports, each of which takes a quarter of an hour."""
    found = list[Lead]()
    for number in range(400):
        begin = (20 + 60 * (number // 80)) * DAY + 7 * HOUR
        found.append(lead(number, begin + number % 80 * 11))
    return found


def late() -> list[Lead]:
    """Return leads of the last fifty days."""
    return [lead(number, 250 * DAY + number * 12_000) for number in range(360)]


def aged() -> list[Lead]:
    """Return leads that are found twenty days after their signal."""
    found = list[Lead]()
    for number in range(360):
        time = 40 * DAY + number * 17 * HOUR
        found.append(lead(number, time, time - 20 * DAY))
    return found


HISTORIES = {
    "dense": steady(350, DAY / 1.175),
    "sparse": [lead(number, number * 7 * DAY + HOUR) for number in range(42)],
    "late": late(),
    "bursts": bursts(),
    "aged": aged(),
}

ORDINARY = {
    "May a request ask for 100 records?": "yes",
    "Fields beside data and cursor?": "none",
    "Does latest_signal return all leads?": "yes",
    "Does a page hold 100 records?": "yes",
    "Does the last page say so?": "yes",
    "Do three pages follow one another?": "yes",
    "Is limit obeyed?": "yes",
    "Is it obeyed?": "yes",
    "Does it include its ends?": "yes",
    "Is it rounded?": "no",
    "May it be window_days wide?": "yes",
    "May it be a year wide?": "yes",
    "May it be a minute wide?": "yes",
    "May it end in the future?": "yes",
    "Does it reach back ten years?": "yes",
    "Is a list as complete as its time ranges?": "yes",
}

CUT = "no, it is cut without an error"
REFUSED = "no, it is refused"
IGNORED: Json = {
    "ignores_start": True,
    "ignores_end": True,
}
WAYS: dict[str, tuple[Json, Json]] = {
    # What the server does, and which answers this changes.
    "ordinary": ({}, {}),
    "ignores ranges": (IGNORED, {"Is it obeyed?": "no, it is ignored"}),
    "ignores the start": (
        {"ignores_start": True},
        {"Is it obeyed?": "no, its start is ignored"},
    ),
    "ignores the end": (
        {"ignores_end": True},
        {"Is it obeyed?": "no, its end is ignored"},
    ),
    "cuts a month's end": (
        {"longest": 31 * DAY},
        {"May it be a year wide?": CUT},
    ),
    "cuts a month's start": (
        {"longest": 31 * DAY, "keeps_end": True},
        {"May it be a year wide?": CUT},
    ),
    "cuts a week's end": (
        {"longest": 8 * DAY},
        {"May it be a year wide?": CUT, "May it be window_days wide?": CUT},
    ),
    "cuts a week's start": (
        {"longest": 8 * DAY, "keeps_end": True},
        {"May it be a year wide?": CUT, "May it be window_days wide?": CUT},
    ),
    "refuses a year": (
        {"widest": 31 * DAY},
        {"May it be a year wide?": REFUSED},
    ),
    "refuses less than ten minutes": (
        {"shortest": 600},
        {"May it be a minute wide?": "no, an hour at least"},
    ),
    "refuses less than a day": (
        {"shortest": DAY},
        {"May it be a minute wide?": "no, a day at least"},
    ),
    "rounds to days": (
        {"unit": DAY},
        {"Is it rounded?": "yes, to days"},
    ),
    "rounds to minutes": (
        {"unit": 60},
        {"Is it rounded?": "yes, to minutes"},
    ),
    "excludes ends": (
        {"holds_start": False, "holds_end": False},
        {"Does it include its ends?": "no"},
    ),
    "refuses the future": (
        {"refuses_the_future": True},
        {"May it end in the future?": "no"},
    ),
    "rounds to days, and refuses the future": (
        {"unit": DAY, "refuses_the_future": True},
        {"Is it rounded?": "yes, to days", "May it end in the future?": "no"},
    ),
    "sends pages of 50": (
        {"page": 50},
        {"Does a page hold 100 records?": "no, 50"},
    ),
    "refuses more than 50": (
        {"most": 50},
        {"May a request ask for 100 records?": "no, for 50"},
    ),
    "promises one page more": (
        {"promises_more": True},
        {"Does the last page say so?": "no, an empty page follows it"},
    ),
    "ends queries": (
        {"cap": 150},
        {"Is a list as complete as its time ranges?": "no, it ends after 150 records"},
    ),
    "ends queries with a page": (
        {"cap": 100},
        {"Is a list as complete as its time ranges?": "no, it ends after 100 records"},
    ),
    "says that it is a sample": (
        {"says": {"count": 0, "meta": {"mode": "sample", "took": 3}}},
        {
            "Fields beside data and cursor?": "meta.mode; always the same: count, "
            "meta.took"
        },
    ),
}


@pytest.fixture
def _without_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the questions alone."""
    monkeypatch.setattr("tap_leadintent.checkup.cli.estimate", lambda *_: None)


@pytest.mark.usefixtures("_without_estimate")
@pytest.mark.parametrize(
    ("shape", "newest_first"),
    [
        ("dense", True),
        ("sparse", True),
        ("late", False),
        ("bursts", True),
        ("aged", False),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_no_answer_is_wrong(
    tmp_path: Path,
    way: str,
    shape: str,
    *,
    newest_first: bool,
) -> None:
    options, changed = WAYS[way]
    server = Server(
        now=NOW,
        leads=HISTORIES[shape],
        **options,
    )
    server.newest_first = newest_first
    if server.cap >= len(server.leads):
        changed = {}
    found = answers(tmp_path, server)["by"]
    for (question, about), answer in found.items():
        if question not in ORDINARY or answer.startswith("cannot be settled: "):
            continue
        expected = changed.get(question, ORDINARY[question])
        assert answer == expected, (question, about)
    for question, expected in changed.items():
        answers_of = {each for (asked, _), each in found.items() if asked == question}
        if shape == "dense":
            assert answers_of == {expected}


def test_a_page_that_the_tap_does_not_accept_is_not_refused(tmp_path: Path) -> None:
    server = Server(
        now=NOW,
        leads=steady(1_500, DAY / 6),
        ignores_limit=True,
    )
    found = answers(tmp_path, server)["by"]
    for name in ("date_found", "latest_signal"):
        assert found["May it be a year wide?", name] != REFUSED


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        # A load would fail.
        ({"ignores_start": True, "ignores_end": True}, {}),
        ({"ignores_end": True}, {}),
        ({"most": 50}, {}),
        ({"widest": 8 * DAY}, {}),
        ({"shortest": DAY}, {}),
        ({"keeps_from": 100 * DAY}, {}),
        # It would lack records.
        ({"longest": 8 * DAY}, {}),
        ({"longest": 40 * DAY}, {"window_days": 90}),
        ({"says": {"sample": True}}, {}),
        # It would take more than 10,000 requests, or more than it needs to.
        ({}, {"window_days": 0.02}),
        ({"page": 50}, {}),
    ],
    ids=str,
)
def test_the_exit_code_says_that_something_is_to_be_done(
    tmp_path: Path,
    options: Json,
    settings: Json,
) -> None:
    server = Server(
        now=NOW,
        leads=HISTORIES["dense"],
        **options,
    )
    run = check_model(tmp_path, server, settings)
    assert run.code == 1
    assert "\nWhat to do\n" in run.stdout


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({"most": 50}, {"page_size": 50}),
        ({"page": 50}, {"page_size": 50}),
        ({"widest": 8 * DAY}, {"window_days": 7}),
        ({"longest": 8 * DAY}, {"window_days": 7}),
        ({"keeps_from": 100 * DAY}, {"start_date": iso(110 * DAY)}),
        ({"longest": 40 * DAY}, {}),
        ({"cap": 150}, {}),
        ({"unit": DAY}, {}),
        ({"says": {"took": 3}}, {}),
    ],
    ids=str,
)
def test_the_exit_code_says_that_the_settings_are_right(
    tmp_path: Path,
    options: Json,
    settings: Json,
) -> None:
    server = Server(
        now=NOW,
        leads=HISTORIES["dense"],
        **options,
    )
    run = check_model(tmp_path, server, settings)
    assert run.code == 0
    assert "What to do" not in run.stdout


def test_ignored_ranges_have_no_estimate(tmp_path: Path) -> None:
    server = Server(
        now=NOW,
        leads=HISTORIES["dense"],
        **IGNORED,
    )
    report = answers(tmp_path, server)
    assert report["estimate"] == []
    answer = report["by"]["What do runs take?", "leads"]
    assert answer == "cannot be settled: date_found is not obeyed"


@pytest.mark.parametrize("most", [50, 80, 110, 140])
@pytest.mark.parametrize(
    "options",
    [
        {"widest": 8 * DAY},
        {"cap": 100},
        {},
    ],
    ids=str,
)
def test_few_requests_make_no_wrong_estimate(
    tmp_path: Path,
    options: Json,
    most: int,
) -> None:
    # These leads do not show when they were found, so they have to be looked for.
    server = Server(
        now=NOW,
        leads=HISTORIES["aged"],
        **options,
    )
    arguments = ("--json", "--max-requests", f"{most}")
    report = json.loads(check_model(tmp_path, server, {}, *arguments).stdout)
    rows = len(server.leads)
    for volume in report["estimate"]:
        *_, is_least = volume
        assert volume[2] <= rows * 2
        assert is_least or rows / 2 <= volume[2]


def test_a_load_of_more_than_ten_thousand_requests_needs_thought(
    tmp_path: Path,
) -> None:
    server = Server(now=NOW, leads=HISTORIES["sparse"])
    run = check_model(tmp_path, server, {"window_days": 0.02})
    assert "more than 10,000 requests" in run.stdout


def test_the_age_of_a_signal(tmp_path: Path) -> None:
    question = ("How old is a signal when its lead is found?", "leads")
    server = Server(now=NOW, leads=HISTORIES["aged"])
    assert answers(tmp_path, server)["by"][question] == "at most 21 days"
    report = answers(tmp_path, server, {"lookback_days": 7})
    assert report["by"][question] == "up to 21 days"


def test_leads_that_latest_signal_leaves_out(tmp_path: Path) -> None:
    server = Server(
        now=NOW,
        leads=steady(1_300, DAY / 4.4),
        lacks=2,
    )
    found = answers(tmp_path, server)["by"]
    answer = found["Does latest_signal return all leads?", "leads"]
    assert answer == "no, 2 of 5 were not there"
