"""States that move to another address."""

from __future__ import annotations

import pytest

from tests.support.states import HERE, LEADS, SEEN, STATE, THERE, changed, refused


def test_a_state_moves_with_all_its_filters() -> None:
    options = ("--from-source", "HTTPS://api.EXAMPLE.com:443/")
    state = changed(
        "move", *options, "--to-source", "https://new.example.com/", stdin=STATE
    )
    new = {"source": "https://new.example.com"}
    assert state["bookmarks"]["leads"]["coverage"] == [
        {**LEADS[0], **new},
        {**LEADS[1], **new},
        LEADS[2],
        {**LEADS[3], **new},
    ]
    assert state["bookmarks"]["observations"]["coverage"] == [{**SEEN[0], **new}]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "https://third.example.com",
            THERE,
            (
                "--from-source: the state says nothing of https://third.example.com; "
                f"it is about {HERE}, {THERE}"
            ),
        ),
        (
            HERE,
            "example.com",
            "--to-source: must be a URL such as https://api.example.com",
        ),
        (
            HERE,
            "http://example.com",
            (
                "--to-source: must begin with https://, as plain http would send the "
                "key unencrypted"
            ),
        ),
    ],
)
def test_what_cannot_move_is_one_line(old: str, new: str, line: str) -> None:
    options = ("--from-source", old, "--to-source", new)
    assert refused("move", *options, stdin=STATE) == line
