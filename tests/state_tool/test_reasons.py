"""Why a run reads what it reads."""

from __future__ import annotations

import pytest

from tap_leadintent.state_tool.reasons import Reason, reasons

FIRST, EARLIER, HOLE = Reason.FIRST, Reason.EARLIER, Reason.HOLE
AGAIN, LOOKBACK, NEW = Reason.AGAIN, Reason.LOOKBACK, Reason.NEW


@pytest.mark.parametrize(
    ("stretches", "covered", "lookback", "told"),
    [
        pytest.param([(0, 9)], [], 5, [((0, 9), FIRST)], id="nothing covered"),
        pytest.param([], [(0, 9)], 5, [], id="nothing to read"),
        pytest.param([(9, 12)], [(0, 9)], 0, [((9, 12), NEW)], id="new"),
        pytest.param(
            [(4, 12)], [(0, 9)], 5, [((4, 9), LOOKBACK), ((9, 12), NEW)], id="lookback"
        ),
        pytest.param(
            [(0, 20), (40, 50), (90, 110)],
            [(20, 40), (50, 100)],
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
            [(20, 40), (50, 60), (70, 100)],
            35,
            [
                ((0, 20), EARLIER),
                ((20, 40), AGAIN),
                ((40, 50), HOLE),
                ((50, 60), AGAIN),
                ((60, 65), HOLE),
                ((65, 100), LOOKBACK),
                ((100, 110), NEW),
            ],
            id="in one stretch",
        ),
    ],
)
def test_each_piece_has_its_reason(
    stretches: list[tuple[int, int]],
    covered: list[tuple[int, int]],
    lookback: int,
    told: list[tuple[tuple[int, int], Reason]],
) -> None:
    assert list(reasons(stretches, covered, lookback)) == told
