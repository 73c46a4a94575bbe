"""A whole run: the selected streams one after the other, and how it ends."""

from __future__ import annotations

import gc
from contextlib import contextmanager, suppress
from functools import partial
from logging import DEBUG, WARNING
from time import monotonic
from typing import TYPE_CHECKING

from singer_sdk.exceptions import SingerSDKError

from tap_leadintent.errors import NoAccessError, OutputError
from tap_leadintent.summary import Outcome, WarningCounter, describe, describe_run

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator, Sequence

    from tap_leadintent.client import LeadIntentStream


_MORE_THAN_A_PAGE = 10_000
"""Containers, such as lists; a hundred records have a thousand or two."""


def sync_streams(
    streams: Sequence[LeadIntentStream],
    logger: logging.Logger,
    write_state: Callable[[], None],
) -> Outcome:
    """Sync streams; one that fails does not cost the others, if they can be read.

    Args:
        streams: The selected streams.
        logger: The tap's logger, which gets a line for each stream and one for all.
        write_state: Writes a STATE and flushes it.

    Returns:
        Which streams failed, and which were not tried.

    Raises:
        SystemExit: A signal came.
        OutputError: Standard output cannot be written.
    """
    outcome = Outcome(len(streams))
    began = monotonic()
    warnings = WarningCounter()
    logger.addHandler(warnings)
    try:
        with _rare_collections():
            for number, stream in enumerate(streams, start=1):
                before, started = stream.newest_covered, monotonic()
                if error := _attempt(stream, partial(_sync, stream), logger):
                    outcome.failures[stream.name] = _reason(error)
                    if isinstance(error, SingerSDKError):
                        stream.logger.error("%s", error)
                    # What it has covered may not have been due for a STATE yet.
                    write_state()
                seconds = monotonic() - started
                logger.info(describe(stream, before, seconds, warnings))
                if isinstance(error, NoAccessError):
                    outcome.not_tried = [other.name for other in streams[number:]]
                    break
        tried = streams[: len(streams) - len(outcome.not_tried)]
        logger.info(describe_run(tried, monotonic() - began, warnings))
    finally:
        logger.removeHandler(warnings)
    return outcome


def check_streams(
    streams: Sequence[LeadIntentStream],
    logger: logging.Logger,
    read: Callable[[LeadIntentStream], object],
) -> Outcome:
    """See which streams can be read.

    Args:
        streams: The selected streams.
        logger: The tap's logger, which gets a line for each stream.
        read: Reads the beginning of a stream; raises if it cannot be read.

    Returns:
        Which streams failed, and which were not tried.

    Raises:
        SystemExit: A signal came.
        OutputError: Standard output cannot be written.
    """
    outcome = Outcome(len(streams))
    first: dict[str, str] = {}
    for number, stream in enumerate(streams, start=1):
        name = stream.name
        with _without_info(stream.logger):
            error = _attempt(stream, partial(read, stream), logger)
        if error is None:
            empty = "" if stream.tally.records else ", but there is no record to read"
            logger.info("%s: ok%s", name, empty)
            continue
        outcome.failures[name] = _reason(error)
        if isinstance(error, NoAccessError):
            # The last line of the log says it for all.
            outcome.not_tried = [other.name for other in streams[number:]]
            break
        reason = _reason(error).removeprefix(f"{name}: ")
        same = first.setdefault(reason, name)
        logger.error("%s: %s", name, reason if same == name else f"the same as {same}")
    return outcome


@contextmanager
def _without_info(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    if not logger.isEnabledFor(DEBUG):
        logger.setLevel(WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _sync(stream: LeadIntentStream) -> None:
    stream.sync()
    stream.finalize_state_progress_markers()


def _attempt(
    stream: LeadIntentStream, read: Callable[[], object], logger: logging.Logger
) -> Exception | None:
    """Read a stream; give the error if it failed, logged if nobody expected it."""
    try:
        read()
    except SingerSDKError as error:
        return error
    except OutputError:
        raise
    except Exception as error:
        logger.exception("%s: this should not happen", stream.name)
        return error
    finally:
        # A traceback may hold what is read, and with it the threads that read.
        stream.stop_reading()
        stream.note_state()
    return None


def _reason(error: Exception) -> str:
    expected = isinstance(error, SingerSDKError)
    return str(error) if expected else f"{type(error).__name__}: {error}"


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Have the garbage collector look through less, and less often.

    What start-up has made stays, and a page's records go when the page is done.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_MORE_THAN_A_PAGE)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


@contextmanager
def ending_well(write_state: Callable[[], None]) -> Iterator[None]:
    """Write the last true state on a signal.

    Args:
        write_state: Writes a STATE and flushes it.

    Raises:
        SystemExit: A signal came.
    """
    try:
        yield
    except SystemExit:
        # Whoever ends the run may have ended the target before.
        with suppress(OutputError):
            write_state()
        raise
