"""Which failures of streams end a run, as no other stream can be read."""

from math import inf

import pytest

from tap_leadintent.api.health import RunHealth
from tap_leadintent.errors import Action, Reason, StreamError
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
        health = RunHealth(lambda: 0.0)
        if has_page:
            health.note_page()
        *first, last = map(health.note_failure, failures)
        assert not any(first)
        assert last == expected


def test_how_long_requests_are_repeated_before_one_succeeds(clock: Clock) -> None:
    health = RunHealth(clock.limits.monotonic)
    health.note_request()
    clock.now += 5
    health.note_request()
    assert health.seconds_for_retries == 15
    health.note_failure(LATE)
    assert not health.seconds_for_retries, "another stream has tried"
    health.note_page()
    assert health.seconds_for_retries == inf
