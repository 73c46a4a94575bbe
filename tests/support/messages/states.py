"""What is said of a state before a run begins."""

from __future__ import annotations

from typing import Any

from tests.support.messages.kinds import warning

_FAR = "https://api.example.com"


def _state(stream: str = "leads", **said: str) -> dict[str, Any]:
    entry = {
        "range": "date_found",
        "from": "2025-01-01T00:00:00Z",
        "to": "2025-01-02T00:00:00Z",
        **said,
    }
    return {"bookmarks": {stream: {"coverage": [entry]}}}


STATE = (
    warning(
        "base_url is …, but the state of leads was made with …; everything is "
        "read anew, and the coverage of that address is kept",
        state=_state(source=_FAR),
        cause="The address has changed since the state was made.",
        cure="Correct `base_url` if it is a slip; nothing is lost by it.",
    ),
    warning(
        "leads: The stream starts anew: its filters have changed to …; the "
        "coverage with other filters is kept",
        state=_state(filters="0123456789ab"),
        cause="The stream's `filters` have changed since the state was made.",
        cure="Nothing, if it was meant: with other filters there are other rows.",
    ),
    warning(
        "api_key is not the one that the state of leads was made with; if it belongs "
        "to another organization, use a separate state for it",
        state=_state(key="00000000"),
        cause="The key has changed since the state was made.",
        cure="Nothing, if it was rotated. Another organization needs a state of its own.",
    ),
    warning(
        "leads: Its state covers a time in the future, up to …; only what comes "
        "before … counts",
        state=_state(to="9999-01-01T00:00:00Z"),
        cause="The state was written by hand, or a clock was wrong.",
        cure="Nothing needs to be done: the time from now on is read as it comes.",
    ),
    warning(
        "leads: The stream starts anew: in its state, … comes before …",
        state=_state(to="2024-01-01T00:00:00Z"),
        cause="The state was written by hand, and its times are wrong.",
        cure="Nothing, if reading everything anew is fine; else give the last STATE.",
    ),
    warning(
        "The state has no bookmarks; ignored in it: 'leads'",
        state={"leads": {"coverage": []}},
        cause="The state has another form than Singer's.",
        cure="Give the value of the last STATE that the tap wrote.",
    ),
    warning(
        "leads: The stream starts anew: its state has a replication_key_value alone, "
        "which does not say what was found when",
        state={"bookmarks": {"leads": {"replication_key_value": "2025-01-01"}}},
        cause="The state is of another tap, or was written by hand.",
        cure="Nothing needs to be done: all is read once, and then what is new.",
    ),
)
