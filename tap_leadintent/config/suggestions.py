"""Finds misspelt names, and guesses what they were meant to be."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest another name, to be put behind the message that refuses this one.

    Args:
        name: A name that is not known.
        known: Those that are.

    Returns:
        A clause with the nearest known name, or nothing if none is near.
    """
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Find the name that a misspelt one is most like.

    Args:
        name: A name that is not known.
        known: Those that are.

    Returns:
        The nearest of them, or None if none is near.
    """
    matches = get_close_matches(name, list(known), n=1, cutoff=0.75)
    return matches[0] if matches else None


def unknown_settings(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Look for settings that there are not.

    Args:
        names: Names of settings, as given.
        known: Those that there are.

    Yields:
        A line for each that there is not, beginning with its name.
    """
    known = list(known)
    for name in names:
        if name not in known:
            yield f"{name}: there is no such setting{did_you_mean(name, known)}"
