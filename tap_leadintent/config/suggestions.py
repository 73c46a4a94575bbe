"""Finds misspelt names and suggests the right ones."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest a known name, as the end of a message about an unknown one.

    Args:
        name: The unknown name.
        known: The known names.

    Returns:
        A clause with the nearest known name, empty if none is near.
    """
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that is nearest to a misspelt one.

    Args:
        name: The unknown name.
        known: The known names.

    Returns:
        The nearest known name, or None if none is near.
    """
    matches = get_close_matches(name, list(known), n=1, cutoff=0.75)
    return matches[0] if matches else None


def unknown_settings(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Find unknown settings.

    Args:
        names: Names of settings, as given.
        known: Names of all settings.

    Yields:
        A line for each unknown setting, beginning with its name.
    """
    known = list(known)
    for name in names:
        if name not in known:
            yield f"{name}: there is no such setting{did_you_mean(name, known)}"
