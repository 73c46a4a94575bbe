"""`adopt` lets a state belong to the place of the settings."""

import pytest

from tests.support.helpers import PREFIX
from tests.support.states import (
    HERE,
    LEADS,
    STATE,
    THERE,
    about,
    error_of,
    state_from,
    state_of,
)


def test_a_state_belongs_to_a_new_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}BASE_URL", f"{THERE}/")
    monkeypatch.setenv("MELTANO_ENVIRONMENT", "prod")
    bookmarks = state_from("adopt", stdin=STATE)["bookmarks"]
    for name in ("leads", "observations"):
        first, *intervals = bookmarks[name]["coverage"]
        assert first == about("06-01", source=THERE, environment="prod")
        assert intervals == STATE["bookmarks"][name]["coverage"][1:]


def test_one_stream_is_adopted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}BASE_URL", THERE)
    bookmarks = state_from("adopt", "--stream", "leads", stdin=STATE)["bookmarks"]
    assert bookmarks["leads"]["coverage"][0]["source"] == THERE
    assert bookmarks["observations"]["coverage"][0]["source"] == HERE


def test_other_filters_are_not_adopted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}FILTERS", '{"leads": {"sheet_ids": ["a"]}}')
    line = error_of("adopt", stdin=state_of(leads=LEADS))
    assert line.startswith("leads: filters.leads has changed, so rows may be missing; ")
    assert line.endswith("with tap-leadintent-state forget --stream leads")


def test_a_state_that_covers_nothing_is_refused() -> None:
    line = error_of("adopt", "--stream", "signal_accounts", stdin=STATE)
    assert line == "signal_accounts: the state covers nothing"
