"""Which failures of streams end a run, as no other stream can be read."""

import pytest

from tap_leadintent.api.health import RunHealth
from tap_leadintent.errors import Action, Reason, StreamError


def failed(status: int | None = None, reason: Reason | None = None) -> StreamError:
    return StreamError("failed", status=status, reason=reason, actions=Action(0))


NO_CONNECTION = StreamError("failed", actions=Action.END_RUN)
LATE, NO_KEY = failed(reason=Reason.NO_RESPONSE), failed(401)
NO_REQUEST, NOT_ALLOWED = StreamError("failed"), StreamError("failed", status=403)


@pytest.mark.parametrize(
    ("failures", "ends", "ends_after_a_page"),
    [
        ([NO_CONNECTION], True, True),
        ([NO_KEY], False, False),
        ([NO_KEY, NO_KEY], True, False),
        ([LATE, LATE], True, False),
        ([failed(503), NO_REQUEST, failed(503)], True, False),
        ([failed(503), failed(404), failed(503)], False, False),
        ([failed(200, Reason.NOT_A_PAGE), LATE], False, False),
        ([NOT_ALLOWED, NOT_ALLOWED], False, False),
        ([LATE, NOT_ALLOWED, LATE], True, False),
        ([NO_REQUEST, NO_REQUEST], False, False),
    ],
)
def test_what_ends_a_run(
    failures: list[StreamError], *, ends: bool, ends_after_a_page: bool
) -> None:
    for has_page, expected in ((False, ends), (True, ends_after_a_page)):
        health = RunHealth()
        if has_page:
            health.note_page()
        *first, last = map(health.note_failure, failures)
        assert not any(first)
        assert last == expected
        is_on_trial = (
            any(error.actions == Action(0) for error in failures) and not has_page
        )
        assert health.is_on_trial == is_on_trial
