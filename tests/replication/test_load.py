"""How busy a process is, on a clock of the test's own."""

from __future__ import annotations

import pytest

from tap_leadintent.replication.load import Load


class Clocks:
    """Stands in for the module `time`."""

    def __init__(self) -> None:
        self.passed = self.worked = 50.0

    def monotonic(self) -> float:
        return self.passed

    def process_time(self) -> float:
        return self.worked

    def run(self, load: Load, seconds: int, *, share: float) -> list[float]:
        """Ask ten times a second; give the answers of the last two."""
        told = []
        for _ in range(10 * seconds):
            self.passed += 0.1
            self.worked += 0.1 * share
            told.append(load.share())
        return told[-20:]


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    clocks = Clocks()
    monkeypatch.setattr("tap_leadintent.replication.load.time", clocks)
    return clocks


def test_the_share_from_the_beginning(clocks: Clocks) -> None:
    load = Load()
    assert load.share() == 1
    clocks.passed += 0.2
    clocks.worked += 0.05
    assert load.share() == pytest.approx(0.25)


@pytest.mark.parametrize(("before", "since"), [(1.0, 0.2), (0.0, 0.9)])
def test_only_what_was_of_late_counts(
    clocks: Clocks, before: float, since: float
) -> None:
    load = Load()
    assert clocks.run(load, 1000, share=before) == pytest.approx([before] * 20)
    assert clocks.run(load, 5, share=since) == pytest.approx([since] * 20)


def test_a_time_in_which_nobody_asked_is_soon_forgotten(clocks: Clocks) -> None:
    load = Load()
    clocks.passed += 1000
    clocks.worked += 1000
    assert load.share() == pytest.approx(1)
    assert clocks.run(load, 4, share=0.3) == pytest.approx([0.3] * 20)
