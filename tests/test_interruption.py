"""Signals end a run where nothing is half done."""

from __future__ import annotations

import signal
from threading import Thread

import pytest
from singer_sdk import Tap

from tap_leadintent.interruption import Interruption
from tap_leadintent.tap import TapLeadIntent


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


def test_a_signal_ends_waiting_wherever_it_is() -> None:
    interruption = Interruption()
    with interruption.waiting(), pytest.raises(SystemExit, match="143"):
        interruption.signal(signal.SIGTERM)


def test_no_wait_begins_after_a_signal() -> None:
    interruption = Interruption()
    interruption.signal(signal.SIGTERM)
    with pytest.raises(SystemExit, match="143"), interruption.waiting():
        pytest.fail("waits")


def test_what_follows_the_waiting_goes_on_to_the_next_safe_point() -> None:
    interruption = Interruption()
    with interruption.waiting():
        pass
    interruption.signal(signal.SIGTERM)
    with pytest.raises(SystemExit, match="143"):
        interruption.check()


def test_a_thread_that_waits_leaves_the_main_one_alone() -> None:
    interruption = Interruption()
    ended: list[str] = []

    def wait() -> None:
        with interruption.waiting():
            taking_signals.start()
            taking_signals.join()
            ended.append("waiting")

    def take_signal() -> None:
        interruption.signal(signal.SIGTERM)
        ended.append("handler")

    taking_signals = Thread(target=take_signal)
    waiting = Thread(target=wait)
    waiting.start()
    waiting.join()
    assert ended == ["handler", "waiting"]


def is_of_a_tap(number: signal.Signals) -> bool:
    return isinstance(getattr(signal.getsignal(number), "__self__", None), Tap)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_tap_of_a_test_keeps_the_signals(number: signal.Signals) -> None:
    """Otherwise no Ctrl-C could end the tests after the first tap."""
    assert not is_of_a_tap(number)  # of an earlier test
    TapLeadIntent(config={}, validate_config=False)
    assert is_of_a_tap(number)
