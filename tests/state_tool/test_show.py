"""`show` says what has been read, and all commands refuse what is not a state."""

from collections.abc import Callable

import pytest

from tests.support.helpers import lines_with
from tests.support.states import (
    THERE,
    about,
    entry,
    error_of,
    found,
    output_of,
    signal,
    state_from,
    state_of,
)

STATE = state_of(
    leads=[
        about("06-01T12:00:00", filters="0123456789ab"),
        found("02-01", "03-01"),
        found("03-03", "06-01"),
        signal("04-01", "06-01"),
    ],
    # A catalog can make it incremental.
    monitored_accounts=[
        about(
            "02-02",
            environment="prod",
            schema="raw",
        ),
        entry("latest_activity", "01-01", "02-01"),
    ],
    observations=[
        {
            **found("01-01", "02-01"),
            "to": "soon",
        }
    ],
)
SHOWN = """\
Each bar is the time from 2026-01-01T00:00:00Z to 2026-06-03T00:00:00Z: # read, . not read
signal_agents: every run reads all records (full table)
leads: read completely from https://api.example.com with the filters 0123456789ab, as of 2026-06-01T12:00:00Z:
  date_found      [.............##########.###################################.]
  date_found from 2026-02-01T00:00:00Z to 2026-03-01T00:00:00Z
  date_found from 2026-03-03T00:00:00Z to 2026-06-01T00:00:00Z
  latest_signal   [....................................#######################.]
  latest_signal from 2026-04-01T00:00:00Z to 2026-06-01T00:00:00Z
signal_accounts: nothing has been read
monitored_accounts: read completely from https://api.example.com (prod, raw), as of 2026-02-02T00:00:00Z:
  latest_activity [############................................................]
  latest_activity from 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z
observations: nothing has been read; its state is damaged ('soon' is not a time)
"""  # noqa: E501


def test_a_state_is_shown_in_lines(settings: Callable[..., str]) -> None:
    assert output_of("show", stdin=STATE).startswith(SHOWN)
    wrapped = {"singer_state": STATE}
    since = ("--config", settings(start_date="2025-01-01"))
    first, *_ = output_of("show", "-", *since, stdin=wrapped).splitlines()
    assert first.startswith("Each bar is the time from 2025-01-01T00:00:00Z to 2026")


def test_of_many_intervals_the_newest_are_listed() -> None:
    days = [found(f"04-{n:02}", f"04-{n:02}T12:00:00") for n in range(1, 31)]
    printed = output_of("show", stdin=state_of(leads=days))
    lines = lines_with("  date_found", printed.splitlines())
    assert lines[1] == "  date_found: 20 older intervals are not listed"
    assert len(lines) == 12
    assert "date_found from 2026-04-21" in lines[2]
    assert "date_found from 2026-04-30" in lines[-1]


CONTROLS = "\x1b]0;x\x07\x9b2J\u202e\nobservations: covered"
"""A terminal would change its title, erase lines, or begin a new line."""


def test_control_characters_of_a_state_are_escaped() -> None:
    source = f"https://{CONTROLS.lower()}"
    state = state_of(
        leads=[
            about("03-01", source=source),
            found("01-01", "03-01"),
        ]
    )
    forget = ("forget", "--from", "2026-02-01")
    printed = output_of("show", stdin=state) + output_of(*forget, stdin=state)
    for line in printed.split("\n"):
        assert line.isprintable()
    assert "\\x1b]0;x\\x07\\x9b2j\\u202e\\nobservations" in printed
    coverage = state_from(*forget, stdin=state)["bookmarks"]["leads"]["coverage"]
    assert coverage == [
        about("02-01", source=source),
        found("01-01", "02-01"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty; give what `meltano state get` prints, or the "),
        ({"base_url": THERE}, "it has no bookmarks, so it is not a state; give "),
        ({"singer_state": None}, "the state is empty, so the next run reads everyth"),
        ({"bookmarks": {"leads": 7}}, "Expected `object`, got `int`"),
    ],
    ids=str,
)
def test_a_file_that_is_not_a_state_is_refused_in_one_line(
    text: object,
    reason: str,
) -> None:
    line = error_of("show", "-", stdin=text)
    assert line.startswith(f"standard input: {reason}")
