"""A whole run: syncs or tests the selected streams one after the other."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from logging import DEBUG, WARNING
from time import monotonic
from typing import TYPE_CHECKING, Any

from singer_sdk.exceptions import SingerSDKError

from tap_leadintent.errors import NoAccessError, OutputError, RunError
from tap_leadintent.replication.state_check import changes, unknown_names
from tap_leadintent.summary import (
    Outcome,
    WarningCounter,
    describe,
    describe_failures,
    describe_run,
)

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tap_leadintent.client import LeadIntentStream
    from tap_leadintent.redaction import Secret

_MOST_OF_FAILURES = 5_000
"""Characters of the last line of a failed run. Fewer would cut off the reasons of some
streams; more would make a line that is hard to read."""


def sync_streams(
    streams: Sequence[LeadIntentStream],
    logger: logging.Logger,
    write_state: Callable[[], None],
) -> Outcome:
    """Sync streams; when one fails, the others are synced all the same.

    Only a `NoAccessError` ends the run: the other streams would fail like the first.

    Args:
        streams: The selected streams.
        logger: The tap's logger; gets a line for each stream and one for the run.
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
        for number, stream in enumerate(streams, start=1):
            before, started = stream.newest_covered, monotonic()
            if error := _attempt(stream, partial(_sync, stream), logger):
                outcome.failures[stream.name] = _reason(error)
                if isinstance(error, SingerSDKError):
                    stream.logger.error("%s", error)
                # Its last windows may not have been in a STATE yet.
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
    """Check which streams can be read.

    Args:
        streams: The selected streams.
        logger: The tap's logger; gets a line for each stream.
        read: Reads the beginning of a stream; raises if that fails.

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
            # The last line of the log names the reason, once for all streams.
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
    """Read a stream; return its error, and log one that is a bug with its traceback."""
    try:
        read()
    except SingerSDKError as error:
        return error
    except OutputError:
        raise
    except Exception as error:
        logger.exception(
            "%s: an unexpected error, which is a bug of the tap", stream.name
        )
        return error
    finally:
        # A traceback may keep the reader alive, and with it its threads.
        stream.stop_reading()
        stream.note_state()
    return None


def _reason(error: Exception) -> str:
    expected = isinstance(error, SingerSDKError)
    return str(error) if expected else f"{type(error).__name__}: {error}"


def doubts_about_state(
    state: Mapping[str, Any],
    ranges: Mapping[str, Sequence[str]],
    selected: Sequence[LeadIntentStream],
    now: int,
) -> Iterator[str]:
    """Find what the user may not know of the state that a run begins with.

    Args:
        state: The state.
        ranges: The time ranges of each of the tap's streams.
        selected: The selected streams.
        now: When the run began, in UTC seconds since 1970.

    Yields:
        A line for each unknown name, change of the source, and stream not yet begun.
    """
    yield from unknown_names(state.get("bookmarks", {}), ranges)
    if reading := [stream for stream in selected if stream.is_incremental]:
        bookmarks = {stream.name: stream.state_entry.bookmark for stream in reading}
        filters = {stream.name: stream.filters for stream in reading}
        yield from changes(bookmarks, filters, reading[0].state_entry.key_mark)
        if reading[0].asked.since > now:
            told = ", ".join(bookmarks)
            yield f"start_date lies in the future; nothing is read of {told}"


def raise_failures(outcome: Outcome, secret: Secret) -> None:
    """End a run with what its streams failed for.

    Args:
        outcome: How the streams ended.
        secret: Hides the key.

    Raises:
        RunError: Any of them failed.
    """
    if outcome.failures:
        raise RunError(secret.summarize(describe_failures(outcome), _MOST_OF_FAILURES))
