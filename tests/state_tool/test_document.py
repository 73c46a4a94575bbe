"""What is read as a state, what is refused, and in which form it is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.entering import TOO_DEEP, nested
from tests.support.states import HERE, found, refused, run, signal, state_of, told

if TYPE_CHECKING:
    from collections.abc import Callable

BARE = state_of(leads=[found("01-01", "02-01"), signal("01-01", "02-01")])
NESTED = json.loads(nested(400))
FORGET = ("forget", "--stream", "leads", "--range", "date_found", "--to", "2026-01-05")
COMMANDS = {
    "show": ("show",),
    "forget": FORGET,
    "join": ("join", "-"),
    "move": ("move", "--from-source", HERE, "--to-source", HERE),
}

each_command = pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)


def bookmarks(**streams: object) -> dict[str, Any]:
    return {"bookmarks": streams}


@pytest.mark.parametrize(
    "state",
    [
        BARE,
        {**BARE, "version": 2},
        {"singer_state": BARE},
        {"completed": 1, "singer_state": {**BARE, "a": [1.5]}},
    ],
    ids=["bare", "bare and more", "meltano", "meltano and more"],
)
def test_a_state_is_written_in_the_form_that_it_was_read_in(
    state: dict[str, Any],
) -> None:
    left = json.loads(told(*FORGET, stdin=state))
    expected = [found("01-05", "02-01"), signal("01-01", "02-01")]
    wrapped = left["singer_state"] if "singer_state" in state else left
    assert wrapped["bookmarks"]["leads"]["coverage"] == expected
    wrapped["bookmarks"] = BARE["bookmarks"]
    assert left == state


def test_a_file_is_read_as_standard_input_is(
    write: Callable[[str, object], str],
) -> None:
    path = write("state.json", BARE)
    assert (
        told("show", path) == told("show", "-", stdin=BARE) == told("show", stdin=BARE)
    )


def test_nothing_is_written_but_standard_output(
    write: Callable[[str, object], str],
) -> None:
    path = write("state.json", BARE)
    told(*FORGET, path)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - the path is a text
        assert json.load(file) == BARE


@each_command
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty; a state was expected"),
        (" \n", "is empty; a state was expected"),
        ("{", "is not a JSON object"),
        ("state", "is not a JSON object"),
        (b"\xff\xfe{", "is not a JSON object"),
        ("[]", "is not a JSON object"),
        ("null", "is not a JSON object"),
        ("[" * 100_000, "is not a JSON object"),
        ('{"a": ' * 100_000, "is nested too deeply"),
        (" " * (16 * 2**20 + 1), "is larger than 16 MiB"),
        ({}, "the state is empty"),
        ({"bookmarks": {}}, "the state is empty"),
        ({"singer_state": {}}, "the state is empty"),
        ({"singer_state": None}, "the state is empty"),
        ({"singer_state": [1]}, "Expected `object`"),
        ({"singer_state": "x"}, "Expected `object`"),
        ({"value": BARE}, "give only the state, which is under the key value"),
        ({"type": "STATE"}, 'is not a Singer state, which has "bookmarks"'),
        ({"bookmarks": []}, "Expected `object`"),
        (bookmarks(leads=7), "Expected `object`"),
        (bookmarks(users={"a": 1}), 'a stream that does not exist: "users"'),
        (bookmarks(lead={}), "did you mean leads?"),
        (bookmarks(**{"\x1b[31m": {}}), "a stream that does not exist"),
        (bookmarks(leads={"cover": []}), "has the unknown field"),
        (bookmarks(leads={"coverage": {}}), "leads: Expected `array`"),
        (bookmarks(leads={"coverage": [7]}), "leads: Expected `object`"),
        (
            bookmarks(leads={"coverage": [found("01-01", "02-01", range="date_fond")]}),
            "did you mean date_found?",
        ),
        (
            bookmarks(leads={"coverage": [{"range": "date_found"}]}),
            "leads: Object missing required field",
        ),
        (
            bookmarks(leads={"coverage": [found("01-01", "99-01")]}),
            "leads: month must be in 1..12",
        ),
        (
            bookmarks(leads={"coverage": [found("02-01", "01-01")]}),
            "2026-01-01T00:00:00Z comes before 2026-02-01T00:00:00Z",
        ),
        (
            bookmarks(leads={"coverage": [found("01-01", "02-01", source=NESTED)]}),
            f"the state of leads {TOO_DEEP}",
        ),
        (
            bookmarks(leads={"replication_key_value": "2026-05-01T00:00:00Z"}),
            "leads: its state has a replication_key_value alone, which does not say",
        ),
        (
            bookmarks(
                leads={
                    "coverage": [
                        found("01-01", "02-01"),
                        found("01-01", "02-41", source="https://other.example.com"),
                    ]
                }
            ),
            "leads: ",
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_not_a_state_is_refused_in_a_line(
    arguments: tuple[str, ...], text: object, why: str
) -> None:
    line = refused(*arguments, stdin=text)
    assert line.startswith("standard input: ")
    assert why in line
    assert len(line) < 400


@each_command
def test_a_file_that_cannot_be_read_is_refused(
    arguments: tuple[str, ...], tmp_path: object
) -> None:
    given = [each for each in arguments if each != "-"]
    line = refused(*given, f"{tmp_path}/absent.json")
    assert line.endswith("absent.json: No such file or directory")
    assert refused(*given, str(tmp_path)).endswith("Is a directory")


def test_a_large_state_is_read() -> None:
    hours = [
        found(f"01-{day:02}T{hour:02}:00:00", f"01-{day:02}T{hour:02}:00:{second:02}")
        for day in range(1, 29)
        for hour in range(24)
        for second in range(1, 30)
    ]
    shown = told("show", stdin=state_of(leads=hours))
    assert "and 661 holes more" in shown
    assert len(shown.splitlines()) < 40


def test_a_missing_option_is_a_mistake_of_usage() -> None:
    result = run("forget", stdin=BARE)
    assert result.exit_code == 2
    assert "--stream" in result.stderr
