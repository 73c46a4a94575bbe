"""Nothing is missing in silence where an API ends queries and pages early, in two ways.

Each way is tried with another, with records that appear late, with runs that are
killed, and with runs that may send few requests.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tap_leadintent.replication.intervals import Interval
from tap_leadintent.singer.errors import RunError
from tests.support.helpers import Json
from tests.support.model import DAY, HOUR, Api, Lead, Version, range_of
from tests.support.model_runs import run
from tests.support.store import Store

HISTORY = 20 * DAY


@dataclass
class EarlyApi(Api):
    """An API whose queries and pages end early."""

    cap: int = 0
    """After so many records it ends a query without a word; 0 for never."""

    caps_from: float = 0
    """From when on it does so."""

    served: int = 0
    """The most records of a page, while it reckons with the size that it was asked for
    when it says that there is no more; 0 for as many as asked for."""

    hides: int = 0
    """Of each page it leaves out every record whose number this divides; 0 for none."""

    repeats: bool = False
    """Whether each page begins with the last record of the page before it."""

    shortened: defaultdict[str, set[Interval]] = field(
        default_factory=lambda: defaultdict(set)
    )
    """The intervals of each range whose queries it has ended in a run."""

    is_hidden_cap: bool = False
    """Whether nothing could tell its cap in a run, as one query alone reached it, and
    its number is not one that limits have."""

    def respond(self, body: Json) -> tuple[int, Json]:
        name, start, end = range_of(body)
        rows = self._rows(name, start, end, body)
        rows.sort(reverse=self.newest_first)
        is_capped = self.now >= self.caps_from and 0 < self.cap < len(rows)
        if is_capped:
            rows = rows[: self.cap]
        asked = body["cursor"]["limit"]
        offset = int(body["cursor"].get("after", 0))
        size = min(asked, self.served or asked)
        page = rows[offset : offset + size]
        counted = asked if self.served else size
        has_more = offset + counted < len(rows)
        if is_capped and not has_more:
            self.shortened[name].add((int(start), int(end)))
        after = str(offset + len(page) - self.repeats)
        self.requests.append(body)
        shown = [row for row in page if not self._is_hidden(row[1])]
        return self._answer(shown, after if has_more else "")

    def _is_hidden(self, name: str) -> bool:
        _, _, number = name.partition("-")
        return self.hides > 0 and int(number) % self.hides == 0

    def note_run(self) -> None:
        """Note whether its cap could be told in the run that has ended."""
        for intervals in self.shortened.values():
            if len(intervals) == 1 and self.cap not in ROUND_LIMITS:
                self.is_hidden_cap = True
        self.shortened.clear()

    def returned(self) -> set[str]:
        """Return the ids of the leads that it can return now."""
        return {name for name in self.visible() if not self._is_hidden(name)}


def even(random: Random, count: int) -> list[float]:
    """Return times that are spread over the history."""
    return sorted(random.uniform(0, HISTORY) for _ in range(count))


def bursts(random: Random, count: int) -> list[float]:
    """Return times of which many are close together."""
    starts = even(random, 4)
    span = random.choice([0, 60, HOUR])
    times: list[float] = []
    for _ in range(count):
        start = random.choice(starts)
        times.append(start + random.uniform(0, span))
    return sorted(times)


def nights(random: Random, count: int) -> list[float]:
    """Return times that are one second of each night, of equally many records."""
    each = random.choice([50, 97, 100, 200])
    return [number // each * DAY + 2 * HOUR for number in range(count)]


HISTORIES = {
    "even": even,
    "bursts": bursts,
    "nights": nights,
}

LIMITS = [500, 501, 512, 768, 960, 999, 1000, 1001]

ROUND_LIMITS = [500, 512, 1000]
"""Others are not noticed if only one query of a run reaches them."""

SMALL_PAGES = [10, 20, 25, 30, 40, 48, 50, 64]

WAYS: dict[str, dict[str, list[Any]]] = {
    "capped": {"cap": LIMITS},
    "capped later": {
        "cap": ROUND_LIMITS,
        "caps_from": [0.7 * HISTORY],
    },
    "small pages": {"served": SMALL_PAGES},
    "filtered": {"hides": [3, 10]},
    "repeated": {"repeats": [True]},
    "newest first": {"newest_first": [True]},
    "other page sizes": {},
}
"""What an API may do, beside what its description says; and what its user changes from
run to run."""

PAGE_SIZES = [10, 25, 40, 64, 100]

PAIRS = [*combinations_with_replacement(WAYS, 2)]
# Its queries end at another number each time, which nothing can tell from an end.
PAIRS.remove(("capped", "filtered"))
PAIRS.remove(("capped later", "filtered"))
PAIRS.remove(("capped", "capped later"))

SEEDS = range(settings().max_examples // 20)
"""More than one in the environment `thorough`, which runs the tests that are marked as
those with random input."""


def assert_nothing_is_missing_in_silence(
    ways: tuple[str, str],
    seed: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Load a history in some runs, and compare what has arrived."""
    random = Random(f"{seed} {ways}")  # noqa: S311 - a test's choice
    late = random.choice([0, 0, 2 * HOUR])
    count = random.choice([60, 400, 1500])
    history = random.choice([*HISTORIES])
    times = HISTORIES[history](random, count)
    leads: list[Lead] = []
    for number, found in enumerate(times):
        shown = found + random.uniform(0, late)
        leads.append(
            Lead(
                id=f"lead-{number:04}",
                found_at=found,
                versions=[Version(shown, found)],
            )
        )
    api = EarlyApi(
        now=0.6 * HISTORY,
        leads=leads,
    )
    for way in ways:
        for name, values in WAYS[way].items():
            setattr(api, name, random.choice(values))
    stream = random.choice(["leads", "observations"])
    config: Json = {
        "concurrency": random.choice([1, 4, 8]),
        "lookback_days": 1,
    }
    budget = random.choice([None, None, 200])
    if budget:
        config["max_requests_per_run"] = budget
    store = Store()
    sizes = PAGE_SIZES if "other page sizes" in ways else [100]
    for hours in (1, 24, 6):
        killed_after = random.choice([None, random.randrange(3, 200)])
        config["page_size"] = random.choice(sizes)
        _run(
            api,
            store,
            config,
            stream,
            killed_after,
        )
        api.now += hours * HOUR
    api.now += HISTORY
    is_whole: bool | None = False
    for _ in range(30):
        caplog.clear()
        config["page_size"] = random.choice(sizes)
        is_whole = _run(
            api,
            store,
            config,
            stream,
            None,
        )
        if is_whole is not False:
            break
    missing = api.returned() - store.rows.keys()
    is_said = "A query ended after" in caplog.text or is_whole is None
    if not is_said and not api.is_hidden_cap:
        assert not missing, json.dumps([ways, seed, len(missing)])


def _run(
    api: EarlyApi,
    store: Store,
    config: Json,
    stream: str,
    killed_after: int | None,
) -> bool | None:
    """Return whether a run has read everything; None if it failed for good."""
    try:
        return run(
            api,
            store,
            config,
            killed_after=killed_after,
            selected=[stream],
        )
    except RunError as error:
        store.end()
        if "max_requests_per_run" in str(error):
            return False
        return None
    finally:
        api.note_run()


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ways", PAIRS, ids=" and ".join)
def test_two_ways_to_end_early(
    ways: tuple[str, str],
    seed: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert_nothing_is_missing_in_silence(ways, seed, caplog)


@settings(
    # Each of them is a life of several runs.
    max_examples=settings().max_examples // 12,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ],
)
@given(
    ways=st.sampled_from(PAIRS),
    seed=st.integers(0, 2**32),
)
def test_any_two_ways_to_end_early(
    caplog: pytest.LogCaptureFixture,
    ways: tuple[str, str],
    seed: int,
) -> None:
    assert_nothing_is_missing_in_silence(ways, seed, caplog)
