"""What the state of a stream holds: the keys of the SDK's `Stream.stream_state`.

* COVERAGE: what has been read of the stream's time ranges; see `Bookmark`
* REMEMBERED: the names of fields and the like that a run has logged, and that later
  runs need not repeat
* ENVELOPE: what all pages have said beside their records; see `api/siblings.py`
* LIST: how many records the last complete list had, if the loader deletes what a list
  does not hold any more
* NOT_REACHED: how many runs in a row had used up their requests before they could read
  the stream
"""

from collections.abc import Mapping
from typing import Any

from tap_leadintent.replication.bookmark import Bookmark

COVERAGE = "coverage"
REMEMBERED = "fields"
ENVELOPE = "envelope"
LIST = "list"
NOT_REACHED = "not_reached"


def read_bookmark(
    state: Mapping[str, Any],
    page_size: int = 0,
) -> Bookmark:
    """Read the bookmark in a stream's state.

    Args:
        state: The stream's state, of this tap or another.
        page_size: How many records the run asks for in a page.

    Returns:
        The bookmark. If the state cannot be used, nothing is covered, and `problem`
        says why.
    """
    if COVERAGE in state:
        return Bookmark.read(state[COVERAGE], page_size)
    bookmark = Bookmark.read([], page_size)
    if state.keys() - {REMEMBERED, ENVELOPE, LIST, NOT_REACHED}:
        bookmark.problem = "its state does not say what has been read"
    return bookmark
