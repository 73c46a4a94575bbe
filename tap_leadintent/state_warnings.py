"""Says what of a stream's state is ignored."""

from collections.abc import Iterator

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.singer.log import summarize
from tap_leadintent.times import format_instant


def state_warnings(bookmark: Bookmark, key_mark: str, now: int) -> Iterator[str]:
    """Say what of a state is ignored, and that the API key is another one.

    Args:
        bookmark: What was read from the state.
        key_mark: `key_mark` of the run's API key.
        now: When the run begins, in UTC seconds since 1970.

    Yields:
        A text for each warning.
    """
    if bookmark.problem:
        yield f"The stream is read from scratch: {summarize(bookmark.problem)}"
    if bookmark.key_mark not in {"", key_mark}:
        yield (
            "api_key is not the one that the state was made with; if it may read more, "
            "such as other sheets, forget the coverage (tap-leadintent-state forget), "
            "as covered time is not read again; if it belongs to another organization, "
            "use a separate state for it"
        )
    ends = [end for covered in bookmark.coverage.values() for _, end in covered]
    if (newest := max(ends, default=now)) > now:
        text = "The state covers a time in the future, up to {}, which is ignored"
        yield text.format(format_instant(newest))
