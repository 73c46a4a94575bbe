"""Checks whether a stream can go on from its state."""

import logging

from tap_leadintent.config.place import describe_other_place, place_of
from tap_leadintent.config.settings import Settings
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.singer.log import summarize
from tap_leadintent.times import format_instant


def describe_move(
    stream: str,
    bookmark: Bookmark,
    settings: Settings,
) -> str:
    """Say that a state belongs to another address, environment or schema.

    Args:
        stream: The name of the stream.
        bookmark: What its state says.
        settings: The settings.

    Returns:
        A text that begins with what to do; empty if the place is the same, or if only
        the filters of the stream differ.
    """
    place = place_of(settings, stream)
    differing = bookmark.differing(place)
    if not differing or differing == ["filters"]:
        return ""
    return describe_other_place(
        stream,
        differing,
        bookmark.place,
        place,
    )


def check_state(
    stream: str,
    bookmark: Bookmark,
    settings: Settings,
    run_began: int,
    logger: logging.Logger,
) -> None:
    """Let a bookmark belong to the place of the run, and say what it cannot tell.

    Args:
        stream: The name of the stream.
        bookmark: What its state says.
        settings: The settings.
        run_began: When the run began, in UTC seconds since 1970.
        logger: Gets a warning if the state cannot be used.

    Raises:
        StreamError: The state belongs to another place.
    """
    place = place_of(settings, stream)
    differing = bookmark.differing(place)
    if differing:
        problem = describe_other_place(
            stream,
            differing,
            bookmark.place,
            place,
        )
        raise StreamError(problem)
    bookmark.place = place
    if bookmark.problem:
        logger.warning(
            "There is nothing to do. The stream is read from scratch: %s",
            summarize(bookmark.problem),
        )
    newest = _newest_covered(bookmark)
    if newest > run_began:
        logger.warning(
            "The state covers a time in the future, up to %s, which is ignored",
            format_instant(newest),
        )


def _newest_covered(bookmark: Bookmark) -> int:
    """Return the end of the newest interval; 0 if nothing is covered."""
    newest = 0
    for covered in bookmark.coverage.values():
        for _, end in covered:
            newest = max(newest, end)
    return newest
