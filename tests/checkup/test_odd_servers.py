"""The check-up on servers of another kind: no wrong answer, whatever they hold.

Each server does one thing in its own way. Each question has the answer of an ordinary
server or the one that this way asks for, or it cannot be settled.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.check_runs import answers, check_model
from tests.support.helpers import Json
from tests.support.model import (
    DAY,
    HOUR,
    RANGES,
    Api,
    Lead,
    Row,
    lead,
    range_of,
    second,
    steady,
)

NOW = 300 * DAY


@dataclass
class Server(Api):
    """An API that answers in its own way."""

    unit: int = 1
    """Seconds that ranges are rounded to."""
    longest: int = 0
    """Seconds to which a longer range is cut; 0 for never."""
    keeps_end: bool = False
    """Whether a range that is cut keeps its end, and not its start."""
    page: int = 0
    """The most records of a page; 0 for as many as asked for."""
    ignores_limit: bool = False
    """Whether a range is returned in one page."""
    cap: int = 0
    """Records after which a query ends; 0 for never."""

    def respond(self, body: Json) -> tuple[int, Json]:
        name, start, end = range_of(body)
        changed = {key: value for key, value in body.items() if key not in RANGES}
        cursor = {**body["cursor"]}
        if name:
            start = start // self.unit * self.unit
            end = -(-end // self.unit) * self.unit
            if self.longest and end - start > self.longest:
                if self.keeps_end:
                    start = end - self.longest
                else:
                    end = start + self.longest
            changed[name] = {"start_time": second(start), "end_time": second(end)}
            if self.ignores_limit:
                cursor["limit"] = 100_000
        if self.page:
            cursor["limit"] = min(cursor["limit"], self.page)
        return super().respond({**changed, "cursor": cursor})

    def _near(self, start: float, end: float, *, by_found: bool) -> list[Lead]:
        if self.ignores_end:
            return self.leads
        return super()._near(start, end, by_found=by_found)

    def _rows(self, name: str, start: float, end: float, body: Json) -> list[Row]:
        rows = super()._rows(name, start, end, body)
        if not self.cap:
            return rows
        return sorted(rows, reverse=self.newest_first)[: self.cap]


def bursts() -> list[Lead]:
    """Return leads of five imports, each of which takes a quarter of an hour."""
    found = list[Lead]()
    for number in range(600):
        begin = (20 + 60 * (number // 120)) * DAY + 7 * HOUR
        found.append(lead(number, begin + number % 120 * 7))
    return found


def late() -> list[Lead]:
    """Return leads of the last fifty days."""
    return [lead(number, 250 * DAY + number * 9_000) for number in range(480)]


HISTORIES = {
    "dense": steady(3_000, DAY / 10),
    "sparse": [lead(number, number * 7 * DAY + HOUR) for number in range(42)],
    "late": late(),
    "bursts": bursts(),
}

ORDINARY = {
    "Does a page hold 100 records?": "yes",
    "Do three pages follow one another?": "yes",
    "Is limit obeyed?": "yes",
    "Is it obeyed?": "yes",
    "Does it include its ends?": "yes",
    "Is it rounded?": "no",
    "May it be 30 days wide?": "yes",
    "May it be a year wide?": "yes",
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
        {"May it be a year wide?": CUT, "May it be 30 days wide?": CUT},
    ),
    "cuts a week's start": (
        {"longest": 8 * DAY, "keeps_end": True},
        {"May it be a year wide?": CUT, "May it be 30 days wide?": CUT},
    ),
    "refuses a year": (
        {"widest": 31 * DAY},
        {"May it be a year wide?": REFUSED},
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
    "sends pages of 50": (
        {"page": 50},
        {"Does a page hold 100 records?": "no, 50"},
    ),
}


@pytest.fixture
def _without_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the questions alone."""
    monkeypatch.setattr("tap_leadintent.checkup.cli.estimate", lambda *_, **__: None)


@pytest.mark.usefixtures("_without_estimate")
@pytest.mark.parametrize(
    ("shape", "newest_first"),
    [
        ("dense", True),
        ("dense", False),
        ("sparse", True),
        ("late", False),
        ("bursts", True),
        ("bursts", False),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_no_answer_is_wrong(
    tmp_path: Path, way: str, shape: str, *, newest_first: bool
) -> None:
    options, changed = WAYS[way]
    server = Server(now=NOW, leads=HISTORIES[shape], **options)
    server.newest_first = newest_first
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
        assert answers_of <= {expected} or "cannot" in str(answers_of)


def test_a_page_that_the_tap_does_not_accept_is_not_refused(tmp_path: Path) -> None:
    server = Server(now=NOW, leads=steady(1_500, DAY / 6), ignores_limit=True)
    found = answers(tmp_path, server)["by"]
    for name in ("date_found", "latest_signal"):
        assert found["May it be a year wide?", name] != REFUSED


@pytest.mark.parametrize(
    "options",
    [
        IGNORED,
        {"ignores_end": True},
        {"longest": 8 * DAY},
        {"widest": 8 * DAY},
        {"page": 50},
    ],
    ids=str,
)
def test_the_exit_code_says_that_a_setting_is_to_change(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    server = Server(now=NOW, leads=HISTORIES["dense"], **options)
    assert check_model(tmp_path, server).code == 1


def test_ignored_ranges_have_no_estimate(tmp_path: Path) -> None:
    server = Server(now=NOW, leads=HISTORIES["dense"], **IGNORED)
    report = answers(tmp_path, server)
    assert report["estimate"] == []
    answer = report["by"]["What do runs take?", "leads"]
    assert answer == "cannot be settled: date_found is not obeyed"


def test_a_load_of_more_than_ten_thousand_requests_needs_thought(
    tmp_path: Path,
) -> None:
    server = Server(now=NOW, leads=HISTORIES["dense"])
    assert check_model(tmp_path, server).code == 0
    run = check_model(tmp_path, server, {"window_days": 0.02})
    assert run.code == 1
    assert "more than 10,000 requests" in run.stdout
