"""Writes `docs/troubleshooting.md` from `tests/support/messages`.

`uv run --extra sandbox python -m tests.support.troubleshooting_page`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.messages import MESSAGES
from tests.support.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.messages import Message

PAGE = ROOT / "docs" / "troubleshooting.md"

_INTRODUCTION = """\
# Troubleshooting

The messages of the tap that mean more than they say, and what to do. Most lines about a wrong setting or file say it themselves and are not here. Search this page for a few words of the line that you see; `…` stands for what differs from case to case. Names of streams and settings are examples.

Where Meltano ends in a traceback with `BrokenPipeError`, the target has ended; what it said stands above it, such as `connection failed` if the database cannot be reached.

A line about a stream begins with its name. What ends a run is the last line of the log, at ERROR. Exit codes:

| Code | Meaning |
|---|---|
| 0 | All selected streams were read to their end |
| 1 | A stream failed, or nothing was read because of a setting, a file or the catalog; the last line says which |
| 130, 143 | SIGINT or SIGTERM ended the run at a safe point; the next one goes on from the last state |
| 137 | The run was killed, often by the system because memory ran out; the next one goes on from the last state. Meltano believes for five minutes that it still runs: `meltano run --force` |

This page is made from the tests that bring each message about (`uv run --extra sandbox python -m tests.support.troubleshooting_page`).
"""


def page() -> str:
    """Give the page."""
    links = (f"[{title}](#{title.lower().replace(' ', '-')})" for title in MESSAGES)
    parts = [_INTRODUCTION, f"{', '.join(links)}.\n"]
    for title, messages in MESSAGES.items():
        parts.append(f"## {title}\n")
        parts.extend(part for message in messages for part in _entry(message))
    return "\n".join(parts)


def _entry(message: Message) -> Iterator[str]:
    level = "" if message.level == "ERROR" else f" ({message.level})"
    yield f"```text\n{message.text}\n```\n"
    yield f"{message.cause}{level} **{message.cure}**\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
