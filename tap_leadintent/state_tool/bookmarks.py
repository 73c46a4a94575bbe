"""What the commands know about streams and about their bookmarks in a state."""

from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.state_tool.document import RawState
from tap_leadintent.streams.endpoints import STREAMS
from tap_leadintent.streams.state import COVERAGE

# The classes are read, because the SDK creates streams only together with a tap.
RANGES = {stream.name: list(stream.ranges) for stream in STREAMS}  # type: ignore[misc]
"""The time ranges of each stream. Runs with `end_date` read only the first one."""

HAS_TIMES = {stream.name: set(stream.time_fields) for stream in STREAMS}  # type: ignore[misc]
"""The time ranges of each stream whose time its records carry."""

_INCREMENTAL = {
    stream.name  # type: ignore[misc]
    for stream in STREAMS
    if "replication_key" in vars(stream)
}


def is_full_table(
    stream: str,
    state: RawState,
    method: str = "",
) -> bool:
    """Return whether every run reads all records of a stream.

    Args:
        stream: The name of the stream.
        state: The state of the stream.
        method: Its replication method, empty if that is not known. Then coverage in the
            state shows that a catalog has made the stream incremental.
    """
    if method and RANGES[stream]:
        return method == REPLICATION_FULL_TABLE
    return stream not in _INCREMENTAL and not state.get(COVERAGE)


def format_problem(bookmark: Bookmark) -> str:
    """Return why a state could not be used, as the end of a sentence.

    Args:
        bookmark: The bookmark that was read from the state.
    """
    if not bookmark.problem:
        return ""
    return f"; {bookmark.problem}"
