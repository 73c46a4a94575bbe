"""Reading comes to its end, whichever window stands still or is given up."""

from __future__ import annotations

from math import ceil
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.windows import Window, Windows
from tests.support.histories import (
    CLUSTERS,
    DAY,
    PAGE,
    YEAR,
    History,
    clustered,
    uniform,
)
from tests.support.rounds import read


@given(CLUSTERS, st.integers(1, 16), st.sampled_from([None, 7 * DAY]))
def test_the_oldest_window_comes_to_its_end_while_all_others_wait(
    clusters: list[tuple[int, int]], readers: int, length: int | None
) -> None:
    """Memory may have room for no page but those of the oldest window."""
    times = clustered(clusters)
    end = YEAR + 30 * DAY
    windows = Windows([(0, end)], page_size=PAGE, readers=readers, length=length)
    out: list[Window] = []
    while not windows.finished:
        while len(out) < readers and (window := windows.next()):
            out.append(window)
        front = min(out)
        out.remove(front)
        pages = max(1, ceil(times.held(front) / PAGE))
        if all(windows.goes_on(front) for _ in range(pages - 1)):
            windows.done(front, records=times.held(front), requests=pages)


@pytest.mark.parametrize("readers", [1, 2, 4])
@pytest.mark.parametrize("size", [3_000, 30_000])
def test_a_crowded_second_a_week_costs_little_more_than_its_pages(
    readers: int, size: int
) -> None:
    weeks = 12
    times = [*range(0, weeks * 7 * DAY, 900)]
    for week in range(weeks):
        times += [week * 7 * DAY + 2 * DAY + 11_111] * size
    played = read(History(times), 0, weeks * 7 * DAY, readers)
    assert played.requests <= 2 * len(times) / PAGE + 40 * weeks


@pytest.mark.parametrize(
    ("seed", "readers"),
    [(24, 4), (41, 2), (97, 2), (97, 4), (379, 4), (396, 16), (450, 32), (547, 32)],
)
def test_while_the_oldest_window_stands_still_the_others_come_to_an_end(
    seed: int, readers: int
) -> None:
    """What they have no room for is not read and given up again and again."""
    draw = Random(seed)  # noqa: S311
    span, bursts = 30 * DAY, 5
    times = uniform(9_000, seed, span)
    for _ in range(bursts):
        begin, seconds = draw.randrange(29 * DAY), draw.choice([60, 3600, DAY])
        times += [begin + draw.randrange(seconds) for _ in range(2_000)]
    history = History(times)
    windows = Windows([(0, span)], page_size=PAGE, readers=readers)
    chains: dict[Window, int] = {}
    requests = 0
    while not windows.finished and requests < 10_000:
        while len(chains) < readers and (window := windows.next()):
            chains[window] = 0
        oldest = min(chains)
        window = next((other for other in chains if other != oldest), oldest)
        page, held = chains.pop(window) + 1, history.held(window)
        requests += 1
        if page == max(1, ceil(held / PAGE)):
            windows.done(window, records=held, requests=page)
        elif windows.goes_on(window):
            chains[window] = page
    assert requests <= 3 * history.pages + 80 * bursts
