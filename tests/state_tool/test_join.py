"""`join` makes one state of the states of shards."""

from collections.abc import Callable

import pytest

from tests.support.helpers import PREFIX
from tests.support.states import (
    HERE,
    KEY,
    LEADS,
    STATE,
    THERE,
    entry,
    error_of,
    found,
    signal,
    state_from,
    state_of,
)

Join = Callable[..., list[str]]


@pytest.fixture
def shards(write: Callable[[str, object], str]) -> Join:
    """Write the states of shards to files, and return the command that joins them."""

    def shards(*states: object) -> list[str]:
        return ["join", *(write(f"{n}.json", each) for n, each in enumerate(states))]

    return shards


def test_shards_are_joined_without_settings(
    shards: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals = [signal("06-10", "06-20"), signal("07-01", "07-10")]
    monkeypatch.delenv(f"{PREFIX}BASE_URL")
    command = shards(
        {"singer_state": state_of(leads=[found("05-01", "09-02")])},
        STATE,
        state_of(leads=[found("06-01", "07-01"), found("07-01", "08-01"), *signals]),
        {"bookmarks": {"signal_agents": {}}},
    )
    joined = state_from(*command)["singer_state"]["bookmarks"]
    assert joined["leads"]["coverage"] == [
        found("01-01", "09-02", **KEY),
        signal("04-01", "06-01", **KEY),
        signal("06-10", "06-20", **KEY),
        signal("07-01", "07-10", **KEY),
        *LEADS[2:],
    ]
    seen = entry("observed_at", "01-01", "06-01")
    assert joined["observations"]["coverage"] == [seen]


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
def test_gaps_are_refused_unless_they_are_allowed(
    shards: Join, options: str, gap: str
) -> None:
    states = [state_of(leads=[found(f"0{n}-01", f"0{n + 1}-01")]) for n in (1, 3)]
    assert error_of(*shards(*states), *options.split()) == (
        f"leads: no shard has read date_found {gap}; join the shard that has, or give "
        "--allow-holes to let the next run read it"
    )
    joined = state_from(*shards(*states), "--allow-holes", *options.split())
    both = [found("01-01", "02-01"), found("03-01", "04-01")]
    assert joined["bookmarks"]["leads"]["coverage"] == both
    assert state_from(*shards(*states), "--from", "2026-03-01")


def test_different_sources_and_malformed_states_are_refused(shards: Join) -> None:
    sources = "leads: the states are about different sources: "
    for other, message in (
        ({"filters": "012345"}, f"{HERE} without filters and {HERE} with the filters "),
        ({"source": THERE}, f"{HERE} without filters and {THERE} without filters"),
        ({"to": "soon"}, "leads: its state is damaged ('soon' is not a time)"),
    ):
        good, bad = found("01-01", "02-01"), {**found("02-01", "03-01"), **other}
        command = shards(state_of(leads=[good]), state_of(leads=[bad]))
        assert error_of(*command).removeprefix(sources).startswith(message)
