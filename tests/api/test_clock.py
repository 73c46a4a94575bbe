"""The earliest time that responses have shown, and clocks that differ."""

import logging

import pytest

from tap_leadintent.api.clock import ServerClock
from tap_leadintent.times import LATEST

NOW = 1_770_000_000
HOUR = 3600


def clock() -> ServerClock:
    return ServerClock(logging.getLogger("clock"))


def test_the_earliest_time_of_all_responses_counts() -> None:
    one, shown = clock(), []
    for date, seconds in [(None, 3.0), (NOW + 9, 3.2), (NOW + 5, 0.9), (NOW + 7, 0)]:
        one.note(date, NOW, seconds)
        shown.append(one.earliest)
    assert shown == [LATEST, NOW + 6, NOW + 5, NOW + 5]


@pytest.mark.parametrize(
    ("ahead", "parts"),
    [
        (
            -3 * HOUR,
            ["2026-02-01T23:40:00Z, this machine's says 2026-02-02T02:40:00Z; a"],
        ),
        (72, ["2026-02-02T02:41:12Z, this machine's says 2026-02-02T02:40:00Z; a"]),
        (-60, []),
        (70, []),
    ],
)
def test_clocks_that_differ_give_one_warning(
    caplog: pytest.LogCaptureFixture, ahead: int, parts: list[str]
) -> None:
    """The ten seconds that a response takes are no difference."""
    one = clock()
    for date in (NOW + ahead, NOW + ahead):
        one.note(date, NOW, 10.0)
    assert len(caplog.messages) == len(parts)
    for line, part in zip(caplog.messages, parts, strict=True):
        assert line.startswith(f"The server's clock says {part}")
