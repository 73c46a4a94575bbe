"""`forget` prints a state without an interval."""

from tests.support.states import KEY, SEEN, STATE, error_of, found, signal, state_from


def test_an_interval_is_forgotten() -> None:
    state = {"completed": 1, "singer_state": {**STATE, "version": 2}}
    bounds = ("--from", "2026-05-01T01:00+01:00", "--to", "2026-05-03")
    command = ("forget", "--stream", "leads", "--config", "any.json")
    changed = state_from(*command, *bounds, stdin=state)
    bookmarks = changed["singer_state"].pop("bookmarks")
    assert changed == {"completed": 1, "singer_state": {"version": 2}}
    assert bookmarks["observations"] == {"coverage": SEEN}
    assert bookmarks["leads"]["coverage"] == [
        *(found("01-01", "05-01", **KEY), found("05-03", "06-01", **KEY)),
        *(signal("04-01", "05-01", **KEY), signal("05-03", "06-01", **KEY)),
    ]
    # What was read with other filters is forgotten, too.
    changed = state_from(*command, stdin=STATE)
    assert changed["bookmarks"]["leads"]["coverage"] == []
    bookmarks = state_from("forget", "--from", "2026-05-01", stdin=STATE)["bookmarks"]
    for stream in ("leads", "observations"):
        since = ("forget", "--stream", stream, "--from", "2026-05-01")
        alone = state_from(*since, stdin=STATE)["bookmarks"]
        assert bookmarks[stream] == alone[stream]


def test_a_change_without_effect_is_refused() -> None:
    for problem, stream, *bounds in (
        ("leads: the state covers nothing from 2026-", "leads", "--from", "2026-07-01"),
        ("--from: must", "leads", "--from", "2026-05-03", "--to", "2026-05-01"),
        ("signal_agents: the state covers nothing", "signal_agents"),
    ):
        line = error_of("forget", "--stream", stream, *bounds, stdin=STATE)
        assert line.startswith(problem)
        assert "0001-01-01" not in line
