"""Whether the next run reads an instant, told before it is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.states import found, signal, state_of, told

if TYPE_CHECKING:
    from collections.abc import Callable

    Settings = Callable[..., str]
    Write = Callable[[str, object], str]

LEADS = [
    signal("04-01", "06-01"),
    found("02-01", "03-01"),
    found("03-03", "06-01"),
]
STATE = state_of(leads=LEADS)


def at(settings: str, instant: str) -> list[str]:
    options = ("plan", "--config", settings, "--stream", "leads", "--at", instant)
    lines = told(*options, stdin=STATE).splitlines()
    return [line.partition("Z: ")[2] for line in lines]


@pytest.mark.parametrize(
    ("instant", "first", "second"),
    [
        (
            "2026-04-15T12:00Z",
            (
                "covered, from 2026-03-03T00:00:00Z to 2026-06-01T00:00:00Z (90 days); "
                "no run reads it again"
            ),
            (
                "covered; the next run reads it again (again, so that the newest "
                "signal comes last: something older is missing)"
            ),
        ),
        (
            "2026-05-31T12:00Z",
            "covered; the next run reads it again (lookback)",
            "covered; the next run reads it again (lookback)",
        ),
        (
            "2026-03-02",
            "not covered; the next run reads it (hole)",
            (
                "not covered; the next run reads it (earlier than what is covered: "
                "start_date has moved back, or it was forgotten)"
            ),
        ),
        (
            "2026-06-02",
            "not covered; the next run reads it (new)",
            "not covered; the next run reads it (new)",
        ),
        (
            "2026-07-01",
            (
                "not covered; it lies in the future; the first run that begins after "
                "it reads it"
            ),
            (
                "not covered; it lies in the future; the first run that begins after "
                "it reads it"
            ),
        ),
    ],
)
def test_an_instant_is_covered_or_will_be(
    settings: Settings, instant: str, first: str, second: str
) -> None:
    assert at(settings(), instant) == [first, second]


def test_an_instant_that_is_not_asked_for(settings: Settings) -> None:
    early, _ = at(settings(), "2025-12-31")
    assert early == (
        "not covered; it lies before start_date (2026-01-01T00:00:00Z); no run reads "
        "it unless start_date moves back"
    )
    late, _ = at(settings(end_date="2026-06-02"), "2026-06-02T12:00Z")
    assert late == (
        "not covered; it lies after end_date (2026-06-02T00:00:00Z); a run without it, "
        "or with a later one, reads it"
    )
    _, unread = at(settings(end_date="2026-06-02"), "2026-03-02")
    assert unread == (
        "not covered; a run with end_date does not read this range; one without it does"
    )


def test_an_instant_of_a_full_table(settings: Settings) -> None:
    options = ("plan", "--config", settings(), "--stream", "signal_agents")
    text = told(*options, "--at", "2026-01-05", stdin=STATE)
    assert text == "signal_agents: all of it; full table, whatever the state says\n"
