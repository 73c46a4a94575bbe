"""Checks settings, and suggests names for misspelled ones."""

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], inside: str = "") -> str:
    """Suggest a known name, as the end of a message about an unknown one.

    Args:
        name: The unknown name.
        known: The known names.
        inside: What to put before the suggestion, such as the object with a dot.

    Returns:
        A clause with the nearest known name, empty if none is near.
    """
    # Some warehouses show names in upper case, so people copy them like that.
    near = get_close_matches(name.lower(), [*known], n=1, cutoff=0.75)
    return f"; did you mean {inside}{near[0]}?" if near else ""


def find_unknown_names(
    names: Iterable[str], known: Collection[str], what: str
) -> Iterator[str]:
    """Find the names that are not known.

    Args:
        names: Names, as given.
        known: All names that there are.
        what: What they are names of.

    Yields:
        A line for each unknown name, which begins with it.
    """
    for name in names:
        if name not in known:
            yield f"{name}: there is no such {what}{did_you_mean(name, known)}"
