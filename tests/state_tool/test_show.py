"""What is said of a state, and what is refused as one."""

import pytest

from tests.support.states import (
    THERE,
    changed,
    entry,
    found,
    rechecked,
    refused,
    signal,
    state_of,
    told,
)

STATE = state_of(
    leads=[
        found("02-01", "03-01"),
        found("03-03", "06-01"),
        signal("04-01", "06-01"),
        rechecked("05-31"),
        found("01-01", "02-01", source=THERE, filters="0123456789ab"),
    ],
    # A catalog may have made it incremental.
    monitored_accounts=[entry("latest_activity", "01-01", "02-01")],
    observations=[{**found("01-01", "02-01"), "to": "soon"}],
)
SHOWN = """\
signal_agents: full table; every run reads all of it
leads
  https://api.example.com without filters
    date_found: covered from 2026-02-01T00:00:00Z to 2026-03-01T00:00:00Z
    date_found: covered from 2026-03-03T00:00:00Z to 2026-06-01T00:00:00Z
    latest_signal: covered from 2026-04-01T00:00:00Z to 2026-06-01T00:00:00Z
    the recheck was done last at 2026-05-31T00:00:00Z
  https://api.example.org with the filters 0123456789ab: kept, but runs do not go by it now
signal_accounts: nothing is covered
monitored_accounts
  https://api.example.com without filters
    latest_activity: covered from 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z
observations: nothing is covered; Invalid isoformat string: 'soon'
custom_signals: full table; every run reads all of it
monitored_leads: nothing is covered
"""  # noqa: E501


def test_a_state_is_told_in_lines() -> None:
    assert told("show", stdin=STATE) == told("show", stdin={"singer_state": STATE})
    assert told("show", "-", stdin=STATE) == SHOWN


OBEYED = "\x1b]0;x\x07\x9b2J\u202e\nobservations: covered"
"""What a terminal obeys: it would change its title, erase lines, or begin a new one."""


def test_a_terminal_obeys_nothing_that_a_state_says() -> None:
    kept = found("01-01", "02-01", source=f"https://{OBEYED}")
    state = state_of(leads=[found("02-01", "03-01"), kept])
    shown = told("show", stdin=state) + told("forget", "--stream", "leads", stdin=state)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "\\x1b]0;x\\x07\\x9b2J\\u202e\\nobservations" in shown
    left = changed("forget", "--stream", "leads", stdin=state)
    assert left["bookmarks"]["leads"]["coverage"] == [kept]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Input data was truncated; give what `meltano state get` prints"),
        ({"singer_state": None}, "the state is empty; the next run reads everything"),
        ({"bookmarks": {"leads": 7}}, "Expected `object`, got `int`"),
    ],
    ids=str,
)
def test_what_is_not_a_state_is_refused_in_a_line(text: object, why: str) -> None:
    line = refused("show", "-", stdin=text)
    assert line.startswith(f"standard input: {why}")
