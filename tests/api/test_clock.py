"""Up to which time a response is complete, by the server's clock and by ours."""

import logging

import pytest

from tap_leadintent.api.clock import ServerClock

NOW = 1_770_000_000
HOUR = 3600


def clock() -> ServerClock:
    return ServerClock(logging.getLogger("clock"))


@pytest.mark.parametrize(
    ("date", "seconds", "as_of"),
    [
        pytest.param(NOW, 0.0, NOW, id="alike"),
        pytest.param(NOW + 1, 3.2, NOW - 2, id="ready before it came"),
        pytest.param(NOW + HOUR, 0.5, NOW, id="ahead"),
        pytest.param(NOW - HOUR, 30.0, NOW - HOUR - 30, id="behind, and slow"),
        pytest.param(None, 30.0, NOW, id="no Date"),
    ],
)
def test_the_earlier_of_two_clocks_counts(
    date: int | None, seconds: float, as_of: int
) -> None:
    assert clock().as_of(date, NOW + 0.7, seconds) == as_of


def test_no_response_is_complete_for_longer_than_the_first_one() -> None:
    one = clock()
    times = [one.as_of(date, NOW + HOUR, 0.5) for date in (NOW, NOW + 100, NOW - 9)]
    assert times == [NOW, NOW, NOW - 9]


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
        one.as_of(date, NOW, 10.0)
    assert len(caplog.messages) == len(parts)
    for line, part in zip(caplog.messages, parts, strict=True):
        assert line.startswith(f"The server's clock says {part}")
