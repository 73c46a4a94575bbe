"""What a state says after a stretch of it was forgotten."""

from tests.support.states import (
    KEY,
    LEADS,
    SEEN,
    STATE,
    changed,
    found,
    rechecked,
    refused,
    signal,
)


def test_a_stretch_is_forgotten() -> None:
    state = {"completed": 1, "singer_state": {**STATE, "version": 2}}
    bounds = ("--from", "2026-05-01T01:00+01:00", "--to", "2026-05-03")
    left = changed("forget", "--stream", "leads", *bounds, stdin=state)
    bookmarks = left["singer_state"].pop("bookmarks")
    assert left == {"completed": 1, "singer_state": {"version": 2}}
    assert bookmarks["observations"] == {"coverage": SEEN}
    assert bookmarks["leads"]["coverage"] == [
        *(found("01-01", "05-01", **KEY), found("05-03", "06-01", **KEY)),
        *(signal("04-01", "05-01", **KEY), signal("05-03", "06-01", **KEY)),
        *(rechecked("05-31", **KEY), *LEADS[3:]),
    ]
    left = changed("forget", "--stream", "leads", stdin=STATE)
    assert left["bookmarks"]["leads"]["coverage"] == LEADS[2:]


def test_what_would_change_nothing_is_refused() -> None:
    for stream, *bounds in (
        ("leads", "--from", "2026-07-01"),
        ("leads", "--from", "2026-05-03", "--to", "2026-05-01"),
        ("signal_agents",),
    ):
        line = refused("forget", "--stream", stream, *bounds, stdin=STATE)
        assert line.startswith(f"{stream}: nothing is covered from ")
