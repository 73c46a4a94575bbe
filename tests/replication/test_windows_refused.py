"""Windows that the API refuses, as they may be too wide for it."""

from __future__ import annotations

from itertools import islice
from math import ceil, log2
from typing import Any

import pytest

from tap_leadintent.replication.intervals import union
from tap_leadintent.replication.windows import NARROWEST_SECONDS, Window, Windows
from tests.support.histories import DAY, PAGE, YEAR


def refuse(windows: Windows, *, wider_than: float) -> tuple[list[Window], list[Window]]:
    """Give what eight readers read, and what is refused as it is longer."""
    read: list[Window] = []
    refused: list[Window] = []
    while out := list(islice(iter(windows.next, None), 8)):
        for window in out:
            if window.end - window.start <= wider_than:
                windows.done(window, records=3)
                read.append(window)
            elif window.end - window.start <= NARROWEST_SECONDS:
                return read, [*refused, window]
            else:
                windows.narrow(window)
                refused.append(window)
    return read, refused


KINDS: dict[str, dict[str, Any]] = {
    "quiet": {"readers": 4, "quiet": True},
    "probes": {"readers": 8},
    "bounded": {"readers": 8, "widest": 90 * DAY},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("widest", "span"), [(31 * DAY, 2 * YEAR), (7 * DAY, 2 * YEAR), (4000, YEAR // 4)]
)
def test_what_is_refused_is_read_in_narrower_windows(
    kind: str, widest: int, span: int
) -> None:
    windows = Windows([(0, span)], page_size=PAGE, **KINDS[kind])
    read, refused = refuse(windows, wider_than=widest)
    assert windows.oldest_left is None
    assert union([(start, end) for start, end, *_ in read]) == [(0, span)]
    assert sum(end - start for start, end, *_ in read) == span
    # Eight at once may be refused for the same width.
    assert len(refused) <= 8 * (1 + log2(span / 3600))


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_refuses_everything_is_soon_asked_no_more(kind: str) -> None:
    windows = Windows([(0, 2 * YEAR)], page_size=PAGE, **KINDS[kind])
    read, refused = refuse(windows, wider_than=0)
    assert not read
    assert refused[-1].end - refused[-1].start <= NARROWEST_SECONDS
    assert len(refused) <= 8 * ceil(log2(2 * YEAR / NARROWEST_SECONDS))
