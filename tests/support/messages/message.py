"""A message of the tap, and one way to get it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SANDBOX = "HOST:PORT"
"""Stands in a setting for the host and port of the sandbox."""

ANY = "…"
"""Stands in a text for what differs from case to case."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message, and one way to get it."""

    text: str
    """What the log says, with an ellipsis for what varies."""

    cause: str
    """What it means."""

    cure: str
    """What to do."""

    level: str = "ERROR"
    code: int = 1
    """Exit code of a run that says it."""

    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings of that run beside an address and a key; None takes one away."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of that run, without the tap's prefix."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Others of its environment variables."""

    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts of its files, by the options that name them."""

    catalog: Callable[[], dict[str, Any]] | None = None
    state: Mapping[str, Any] | None = None
    faults: tuple[Mapping[str, Any], ...] = ()
    """What the sandbox does to it."""

    lacks: str | None = None
    """A package that is not installed."""

    seen_by: str = ""
    """The name of the test that sees it, where it takes more than a command line."""

    def is_in(self, line: str) -> bool:
        """Tell whether a line of the log says this."""
        pattern = ".*".join(map(re.escape, self.text.split(ANY)))
        return re.fullmatch(pattern, line) is not None
