"""Why a run reads what it reads."""

from __future__ import annotations

import pytest

from tap_leadintent.state_tool.reasons import Reason, reasons

EARLIER, HOLE, LOOKBACK, NEW = (
    Reason.EARLIER,
    Reason.HOLE,
    Reason.LOOKBACK,
    Reason.NEW,
)


@pytest.mark.parametrize(
    ("stretches", "span", "lookback", "told"),
    [
        pytest.param([(0, 9)], None, 5, [((0, 9), Reason.FIRST)], id="nothing covered"),
        pytest.param([], (0, 9), 5, [], id="nothing to read"),
        pytest.param([(9, 12)], (0, 9), 0, [((9, 12), NEW)], id="new"),
        pytest.param(
            [(4, 12)], (0, 9), 5, [((4, 9), LOOKBACK), ((9, 12), NEW)], id="lookback"
        ),
        pytest.param(
            [(0, 20), (40, 50), (90, 110)],
            (20, 100),
            10,
            [
                ((0, 20), EARLIER),
                ((40, 50), HOLE),
                ((90, 100), LOOKBACK),
                ((100, 110), NEW),
            ],
            id="all",
        ),
        pytest.param(
            [(0, 110)],
            (20, 100),
            70,
            [
                ((0, 20), EARLIER),
                ((20, 30), HOLE),
                ((30, 100), LOOKBACK),
                ((100, 110), NEW),
            ],
            id="a hole that goes over into the lookback",
        ),
        pytest.param(
            [(0, 60)],
            (50, 50),
            20,
            [((0, 30), EARLIER), ((30, 50), LOOKBACK), ((50, 60), NEW)],
            id="an instant",
        ),
    ],
)
def test_each_piece_has_its_reason(
    stretches: list[tuple[int, int]],
    span: tuple[int, int] | None,
    lookback: int,
    told: list[tuple[tuple[int, int], Reason]],
) -> None:
    assert list(reasons(stretches, span, lookback)) == told
