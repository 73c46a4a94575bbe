"""Which failures of streams end a run, as no other stream can be read."""

import pytest

from tap_leadintent.api.health import RunHealth
from tap_leadintent.errors import Action, Reason, StreamError


def failed(status: int | None = None, reason: Reason | None = None) -> StreamError:
    return StreamError("failed", status=status, reason=reason, actions=Action(0))


@pytest.mark.parametrize(
    ("failures", "ends"),
    [
        ([failed(503), StreamError("left"), failed(503)], True),
        ([failed(503), failed(404), failed(503)], False),
        ([failed(200, Reason.NOT_A_PAGE), failed(reason=Reason.NO_RESPONSE)], False),
    ],
)
def test_two_failures_of_one_kind_in_a_row_end_a_run(
    failures: list[StreamError], *, ends: bool
) -> None:
    health = RunHealth(lambda: 0.0)
    *first, last = map(health.note_failure, failures)
    assert not any(first)
    assert last == ends
