"""A whole run: reads the selected streams, one after the other."""

import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from time import monotonic

from tap_leadintent import errors
from tap_leadintent.client import LeadIntentStream
from tap_leadintent.progress import counted

_MOST_OF_FAILURES = 5_000
"""Characters of the last line of a failed run. Fewer would cut off the reasons of some
streams; more would make a line that is hard to read."""


def sync_streams(streams: Sequence[LeadIntentStream]) -> None:
    """Sync streams, and log a line for each and one for the run.

    Args:
        streams: The selected streams.

    Raises:
        RunError: Streams failed, after the others have been synced.
        SystemExit: A signal came.
        OutputError: Standard output cannot be written.
    """
    began, logger = monotonic(), logging.getLogger(errors.LOGGER)

    def sync(stream: LeadIntentStream) -> None:
        started = monotonic()
        try:
            stream.sync()
        finally:
            _log_end(stream, monotonic() - started)

    try:
        read_each(streams, sync)
    except SystemExit:
        logger.warning("A signal ends the run; the next one goes on from its STATE")
        raise
    finally:
        logger.info(
            "%s, %s, %s in %.1f s",
            counted(len(streams), "stream"),
            counted(sum(stream.tally.records.total() for stream in streams), "record"),
            counted(sum(stream.tally.requests for stream in streams), "request"),
            monotonic() - began,
        )


def _log_end(stream: LeadIntentStream, seconds: float) -> None:
    tally = stream.tally
    records = counted(tally.records.total(), "record")
    if told := ", ".join(f"{n:,} {kind}" for kind, n in tally.records.items() if kind):
        records += f" ({told})"
    newest = stream.newest_covered
    stream.logger.info(
        "%s, %s, %s, %.1f s waited; %.1f s%s",
        records,
        counted(tally.requests, "request"),
        counted(tally.retries, "retry", "retries"),
        tally.seconds_waited,
        seconds,
        f"; covered up to {newest}" if newest else "",
    )


def read_each(
    streams: Sequence[LeadIntentStream], read: Callable[[LeadIntentStream], None]
) -> None:
    """Read streams; when one fails, the others are read, unless none can be.

    Args:
        streams: The streams.
        read: Reads one, or raises.

    Raises:
        RunError: Any of them failed; its line says why.
        SystemExit: A signal came.
        OutputError: Standard output cannot be written.
    """
    failed: list[str] = []
    ending: list[str] = []
    for number, stream in enumerate(streams, start=1):
        try:
            read(stream)
        except errors.OutputError:
            raise
        except errors.StreamError as error:
            # The last line, which tells it again, may come hours later.
            stream.logger.error("%s", error)  # noqa: TRY400 - it needs no traceback
            failed.append(f"{stream.name}: {error}")
            limiter = stream.shared.limiter
            last, limiter.failure = limiter.failure, error.kind or limiter.failure
            if _ends_run(error, last, has_succeeded=limiter.has_succeeded):
                if left := [other.name for other in streams[number:]]:
                    ending.append(f"not tried after that: {', '.join(left)}")
                ending.append(f"base_url is {stream.config['base_url']}")
                break
        except Exception as error:
            stream.logger.exception("an unexpected error, which is a bug of the tap")
            failed.append(f"{stream.name}: {type(error).__name__}: {error}")
    if failed:
        told = "; ".join([*failed, *ending])
        line = f"{len(failed)} of {len(streams)} streams failed: {told}"
        secret = streams[0].shared.secret
        raise errors.RunError(secret.summarize(line, _MOST_OF_FAILURES))


def _ends_run(error: errors.StreamError, last: object, *, has_succeeded: bool) -> bool:
    """Tell whether a stream's failure shows that no other stream can be read.

    It does if no connection can be made. While no request of the run has succeeded, it
    also does if the key is refused, or if the last stream failed in the same way. A
    page proves that address and key are right: after it, two streams that fail alike,
    such as with 404, say nothing about the others. Neither does 403 at any time, which
    is about one endpoint.
    """
    if isinstance(error, errors.NoAccessError):
        return True
    if has_succeeded or error.kind in {None, HTTPStatus.FORBIDDEN}:
        return False
    return error.kind in {HTTPStatus.UNAUTHORIZED, last}
