"""A whole run: syncs or tests the selected streams one after the other."""

from __future__ import annotations

from http import HTTPStatus
from logging import DEBUG, WARNING
from time import monotonic
from typing import TYPE_CHECKING

from singer_sdk.exceptions import SingerSDKError

from tap_leadintent.errors import NoAccessError, OutputError, RunError
from tap_leadintent.replication.state_check import changes
from tap_leadintent.summary import (
    Outcome,
    WarningCounter,
    describe,
    describe_failures,
    describe_run,
)

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator, Sequence

    from tap_leadintent.api.limits import RateLimiter
    from tap_leadintent.client import LeadIntentStream
    from tap_leadintent.log import Secret

_MOST_OF_FAILURES = 5_000
"""Characters of the last line of a failed run. Fewer would cut off the reasons of some
streams; more would make a line that is hard to read."""


def sync_streams(
    streams: Sequence[LeadIntentStream],
    logger: logging.Logger,
    write_state: Callable[[], None],
) -> Outcome:
    """Sync streams; when one fails, the others are synced, unless none can be read.

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
    before = {stream.name: stream.newest_covered for stream in streams}
    began = started = monotonic()
    warnings = WarningCounter()
    logger.addHandler(warnings)
    try:
        for stream in _attempts(streams, _sync, logger, outcome):
            if stream.name in outcome.failures:
                # Its last windows may not have been in a STATE yet.
                write_state()
            seconds = monotonic() - started
            logger.info(describe(stream, before[stream.name], seconds, warnings))
            started = monotonic()
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

    def check(stream: LeadIntentStream) -> None:
        level = stream.logger.level
        if not stream.logger.isEnabledFor(DEBUG):
            stream.logger.setLevel(WARNING)
        try:
            read(stream)
        finally:
            stream.logger.setLevel(level)

    for stream in _attempts(streams, check, logger, outcome):
        if stream.name not in outcome.failures:
            empty = "" if stream.tally.records else ", but there is no record to read"
            stream.logger.info("ok%s", empty)
    return outcome


def _attempts(
    streams: Sequence[LeadIntentStream],
    read: Callable[[LeadIntentStream], object],
    logger: logging.Logger,
    outcome: Outcome,
) -> Iterator[LeadIntentStream]:
    """Read streams one after the other, and give each; end where none can be read."""
    for number, stream in enumerate(streams, start=1):
        try:
            read(stream)
        except OutputError:
            raise
        except SingerSDKError as error:
            outcome.failures[stream.name] = str(error)
            limiter, kind = stream.shared.limiter, getattr(error, "kind", None)
            if _ends_run(error, kind, limiter):
                outcome.base_url = stream.config["base_url"]
                outcome.not_tried = [other.name for other in streams[number:]]
            else:
                # The last line, which tells it again, may come hours later.
                stream.logger.error("%s", error)  # noqa: TRY400 - it needs no traceback
            limiter.failure = kind or limiter.failure
        except Exception as error:
            outcome.failures[stream.name] = f"{type(error).__name__}: {error}"
            logger.exception(
                "%s: an unexpected error, which is a bug of the tap", stream.name
            )
        finally:
            # A traceback may keep the reader alive, and with it its threads.
            stream.stop_reading()
            stream.note_state()
        yield stream
        if outcome.base_url:
            return


def _ends_run(error: Exception, kind: object, limiter: RateLimiter) -> bool:
    """Tell whether a stream's failure shows that no other stream can be read.

    It does if no connection can be made. While no request of the run has succeeded, it
    also does if the key is refused, or if the last stream failed in the same way. A
    page proves that address and key are right: after it, two streams that fail alike,
    such as with 404, say nothing about the others. Neither does 403 at any time, which
    is about one endpoint.
    """
    if isinstance(error, NoAccessError):
        return True
    if kind in {None, HTTPStatus.FORBIDDEN}:
        return False
    is_alike = kind in {HTTPStatus.UNAUTHORIZED, limiter.failure}
    return is_alike and not limiter.has_succeeded


def _sync(stream: LeadIntentStream) -> None:
    stream.sync()


def doubts_about_state(selected: Sequence[LeadIntentStream], now: int) -> Iterator[str]:
    """Find what the user may not know of the state that a run begins with.

    Args:
        selected: The selected streams.
        now: When the run began, in UTC seconds since 1970.

    Yields:
        A line for each change of the source, and for streams not yet begun.
    """
    if reading := [stream for stream in selected if stream.is_incremental]:
        bookmarks = {stream.name: stream.bookmark for stream in reading}
        filters = {stream.name: stream.filters for stream in reading}
        yield from changes(bookmarks, filters, reading[0].key_mark)
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
