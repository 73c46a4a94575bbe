"""Describes what a run could not read of a stream."""

from collections.abc import Sequence

from tap_leadintent.errors import StreamError
from tap_leadintent.replication.run import Hole
from tap_leadintent.times import format_interval
from tap_leadintent.words import counted

_MAX_NAMED = 3
"""Holes that the error of a stream names."""

TOO_OLD = "set a later start_date if the API keeps no older records"
"""What to do if the API refuses the oldest time."""


def describe_holes(holes: Sequence[Hole], start: int) -> str:
    """Say which intervals could not be read, and what to do about it.

    Args:
        holes: The intervals, at least one.
        start: Where the stream's ranges begin, in UTC seconds since 1970.

    Returns:
        A text that begins with what to do.
    """
    texts: list[str] = []
    for hole in holes[:_MAX_NAMED]:
        error = hole.error
        reason = error.why if isinstance(error, StreamError) else error
        interval = format_interval(hole.interval)
        texts.append(f"{hole.range_name} {interval} ({reason})")
    more = len(holes) - len(texts)
    if more:
        texts.append(f"{counted(more, 'interval')} more")
    missing = ", ".join(texts)
    advice = "tell the API's support if this stays"
    oldest = min(hole.interval for hole in holes)
    if oldest[0] == start:
        advice = TOO_OLD
    return (
        f"{advice}; each run tries again to read what is missing, and everything else "
        f"was read: {missing}"
    )
