"""Which failures of streams end a run, as no other stream can be read."""

from math import inf
from threading import Event

import pytest

from tap_leadintent.api.limits import Limits, Traffic
from tap_leadintent.errors import Action, Reason, StreamError
from tap_leadintent.progress import StreamStats
from tests.support.helpers import Clock


def failed(status: int | None = None, reason: Reason | None = None) -> StreamError:
    return StreamError("failed", status=status, reason=reason, actions=Action(0))


NO_CONNECTION = StreamError("failed", actions=Action.END_RUN)
LATE, NO_KEY = failed(reason=Reason.NO_RESPONSE), failed(401)
NO_REQUEST, NOT_ALLOWED = StreamError("failed"), StreamError("failed", status=403)


@pytest.mark.parametrize(
    ("failures", "ends", "ends_after_a_page"),
    [
        ([NO_CONNECTION], True, True),
        ([NO_KEY, NO_KEY], True, False),
        ([LATE, LATE], True, False),
        ([failed(503), NO_REQUEST, failed(503)], True, False),
        ([failed(503), failed(404), failed(503)], False, False),
        ([failed(200, Reason.NOT_A_PAGE), LATE], False, False),
        ([LATE, NOT_ALLOWED, LATE], True, False),
        ([NO_REQUEST, NO_REQUEST], False, False),
    ],
)
def test_what_ends_a_run(
    failures: list[StreamError], *, ends: bool, ends_after_a_page: bool
) -> None:
    for has_page, expected in ((False, ends), (True, ends_after_a_page)):
        traffic = Traffic(Limits())
        if has_page:
            traffic.note_page()
        *first, last = map(traffic.note_failure, failures)
        assert not any(first)
        assert last == expected


def test_how_long_requests_are_repeated_before_one_succeeds(clock: Clock) -> None:
    traffic = Traffic(clock.limits)
    for _ in range(2):
        with traffic.turn(Event(), StreamStats()):
            clock.now += 2.5
    assert traffic.seconds_for_retries == 15
    traffic.note_failure(LATE)
    assert not traffic.seconds_for_retries, "another stream has tried"
    traffic.note_page()
    assert traffic.seconds_for_retries == inf
