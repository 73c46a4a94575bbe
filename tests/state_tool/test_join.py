"""What becomes of the states of shards when they are joined."""

from collections.abc import Callable

import pytest

from tests.support.helpers import PREFIX
from tests.support.states import (
    HERE,
    KEY,
    LEADS,
    STATE,
    THERE,
    changed,
    entry,
    found,
    refused,
    signal,
    state_of,
)

Join = Callable[..., list[str]]


@pytest.fixture
def shards(write: Callable[[str, object], str]) -> Join:
    """Write the states of shards, and give the words of the command."""

    def shards(*states: object) -> list[str]:
        return ["join", *(write(f"{n}.json", each) for n, each in enumerate(states))]

    return shards


def test_shards_are_joined_without_what_is_not_settled_of_each(
    shards: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = shards(
        {"singer_state": state_of(leads=[found("05-01", "09-01")])},
        STATE,
        state_of(leads=[found("06-01", "07-01"), found("07-01", "08-01")]),
        {"bookmarks": {"signal_agents": {}}},
    )
    joined = changed(*command)["singer_state"]["bookmarks"]
    assert joined["leads"]["coverage"] == [
        found("01-01", "08-31", **KEY),
        signal("04-01", "05-31", **KEY),
        *LEADS[3:],
    ]
    seen = entry("observed_at", "01-01", "05-31")
    assert joined["observations"]["coverage"] == [seen]
    monkeypatch.setenv(f"{PREFIX}LOOKBACK_MINUTES", "0")
    joined = changed(*command)["singer_state"]["bookmarks"]
    assert joined["leads"]["coverage"][0] == found("01-01", "09-01", **KEY)


@pytest.mark.parametrize(
    ("options", "gap"),
    [
        ("", "from 2026-02-01T00:00:00Z to 2026-03-01T00:00:00Z"),
        ("--from 2025-12-01", "from 2025-12-01T00:00:00Z to 2026-01-01T00:00:00Z"),
        (
            "--from 2026-05-02 --to 2026-03-01",
            "from 2026-04-01T00:00:00Z to 2026-05-02T00:00:00Z",
        ),
    ],
)
def test_gaps_are_refused_unless_they_are_meant(
    shards: Join, options: str, gap: str
) -> None:
    states = [state_of(leads=[found(f"0{n}-01", f"0{n + 1}-01")]) for n in (1, 3)]
    assert refused(*shards(*states), *options.split()) == (
        f"leads: date_found is not covered {gap}; join the shard that covers it, or "
        "give --allow-holes to let the next run read it"
    )
    joined = changed(*shards(*states), "--allow-holes", *options.split())
    both = [found("01-01", "01-31"), found("03-01", "03-31")]
    assert joined["bookmarks"]["leads"]["coverage"] == both
    assert changed(*shards(*states), "--from", "2026-03-01")


def test_what_is_of_another_source_or_malformed_is_refused(shards: Join) -> None:
    sources = "leads: only states of one source can be joined; these are of "
    for other, line in (
        ({"filters": "012345"}, f"{HERE} without filters and {HERE} with the filters "),
        ({"source": THERE}, f"{HERE} without filters and {THERE} without filters"),
        ({"to": "soon"}, "leads: Invalid isoformat string: 'soon'"),
    ):
        good, bad = found("01-01", "02-01"), {**found("02-01", "03-01"), **other}
        command = shards(state_of(leads=[good]), state_of(leads=[bad]))
        assert refused(*command).removeprefix(sources).startswith(line)
