"""Signals end a run where nothing is half done."""

from __future__ import annotations

import signal

import pytest

from tap_leadintent.interruption import Interruption


def test_without_a_signal_the_run_goes_on() -> None:
    Interruption().check()


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_a_signal_ends_the_run_at_the_next_safe_point(
    signum: signal.Signals, code: int
) -> None:
    interruption = Interruption()
    interruption.signal(signum)
    with pytest.raises(SystemExit) as ended:
        interruption.check()
    assert ended.value.code == code
