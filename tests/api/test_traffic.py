"""How many requests a run may send."""

from threading import Event

import pytest

from tap_leadintent.api.limits import Limits
from tap_leadintent.api.traffic import Traffic
from tap_leadintent.errors import BudgetSpentError
from tap_leadintent.progress import StreamStats


def test_a_run_sends_no_more_requests_than_its_budget() -> None:
    traffic = Traffic(Limits(), at_once=1)
    traffic.budget = 2
    for _ in range(2):
        with traffic.turn(Event(), StreamStats()):
            pass
    for _ in range(2):
        with pytest.raises(BudgetSpentError), traffic.turn(Event(), StreamStats()):
            pytest.fail("a request was sent")
