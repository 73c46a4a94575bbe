"""Says what of a state is ignored, and what has changed since it was written."""

from collections.abc import Iterator

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.singer.log import summarize
from tap_leadintent.times import format_instant


def run_warnings(bookmark: Bookmark, key_mark: str) -> Iterator[str]:
    """Say what has changed for all streams since the run that wrote the state.

    Args:
        bookmark: What was read from the state of one stream.
        key_mark: `key_mark` of the run's API key.

    Yields:
        A text for each warning, which is the same for each stream.
    """
    former, source = bookmark.former, bookmark.source
    if former and former.address != source.address:
        yield (
            f"Everything is read from scratch, as base_url was {former.address} in the "
            f"last run and is {source.address} now; what was covered before is kept"
        )
    if bookmark.key_mark not in {"", key_mark}:
        yield (
            "api_key has changed since the last run; if it belongs to another "
            "organization, use a separate state for it; if it may read more, forget "
            "the coverage (tap-leadintent-state forget)"
        )


def stream_warnings(bookmark: Bookmark, now: int) -> Iterator[str]:
    """Say what of a stream's state is ignored.

    Args:
        bookmark: What was read from the state.
        now: When the run begins, in UTC seconds since 1970.

    Yields:
        A text for each warning.
    """
    former, source = bookmark.former, bookmark.source
    if bookmark.problem and not (former and former.address != source.address):
        yield f"The stream is read from scratch: {summarize(bookmark.problem)}"
    ends = [end for covered in bookmark.coverage.values() for _, end in covered]
    if (newest := max(ends, default=now)) > now:
        text = "The state covers a time in the future, up to {}, which is ignored"
        yield text.format(format_instant(newest))
