"""A whole run: reads or checks the selected streams, one after the other."""

from __future__ import annotations

import logging
from collections import Counter
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING

from singer_sdk.exceptions import SingerSDKError
from typing_extensions import override

from tap_leadintent.errors import NoAccessError, OutputError, RunError
from tap_leadintent.progress import counted
from tap_leadintent.replication.bookmark import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tap_leadintent.api.limits import RateLimiter
    from tap_leadintent.client import LeadIntentStream
    from tap_leadintent.log import Secret

_MOST_OF_FAILURES = 5_000
"""Characters of the last line of a failed run. Fewer would cut off the reasons of some
streams; more would make a line that is hard to read."""


class Attempts:
    """Reads streams; when one fails, the others are read, unless none can be."""

    def __init__(self, streams: Sequence[LeadIntentStream]) -> None:
        """Begin with no failure.

        Args:
            streams: The selected streams.
        """
        self._streams = streams
        self.failures: dict[str, str] = {}
        """The reason for each stream that failed."""
        self._not_tried: list[str] = []
        self._base_url = ""
        """The API's address, if no stream can be read."""

    def each(
        self, read: Callable[[LeadIntentStream], object]
    ) -> Iterator[LeadIntentStream]:
        """Read streams one after the other.

        Args:
            read: Reads a stream; raises if that fails.

        Yields:
            Each stream that was tried, afterwards.

        Raises:
            SystemExit: A signal came.
            OutputError: Standard output cannot be written.
        """
        for number, stream in enumerate(self._streams, start=1):
            try:
                read(stream)
            except OutputError:
                raise
            except SingerSDKError as error:
                self.failures[stream.name] = str(error)
                kind, limiter = getattr(error, "kind", None), stream.shared.limiter
                ends_run = _ends_run(error, kind, limiter)
                limiter.failure = kind or limiter.failure
                if ends_run:
                    self._base_url = stream.config["base_url"]
                    self._not_tried = [other.name for other in self._streams[number:]]
                else:
                    # The last line, which tells it again, may come hours later.
                    stream.logger.error("%s", error)  # noqa: TRY400 - it needs no traceback
            except Exception as error:
                self.failures[stream.name] = f"{type(error).__name__}: {error}"
                stream.logger.exception(
                    "an unexpected error, which is a bug of the tap"
                )
            finally:
                stream.end()
            yield stream
            if self._base_url:
                return

    def raise_failures(self, secret: Secret) -> None:
        """End a run with what its streams failed for.

        Args:
            secret: Hides the key.

        Raises:
            RunError: Any of them failed. Its line states a reason once for all streams
                that share it.
        """
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.failures.items():
            by_reason.setdefault(reason.removeprefix(f"{name}: "), []).append(name)
        told = [f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()]
        if self._not_tried:
            told.append(f"not tried after that: {', '.join(self._not_tried)}")
        if self._base_url:
            told.append(f"base_url is {self._base_url}")
        if told:
            failed = f"{len(self.failures)} of {len(self._streams)} streams failed"
            line = f"{failed}: {'; '.join(told)}"
            raise RunError(secret.summarize(line, _MOST_OF_FAILURES))


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


def check_streams(streams: Sequence[LeadIntentStream], secret: Secret) -> None:
    """Read a page of each stream, and log which can be read.

    Args:
        streams: The selected streams.
        secret: Hides the key.

    Raises:
        RunError: Streams cannot be read.
        SystemExit: A signal came.
    """
    attempts, has_records = Attempts(streams), dict[str, bool]()
    for stream in attempts.each(
        lambda each: has_records.update({each.name: each.check()})
    ):
        if stream.name in has_records:
            empty = (
                "" if has_records[stream.name] else ", but there is no record to read"
            )
            stream.logger.info("ok%s", empty)
    attempts.raise_failures(secret)


class _WarningCounter(logging.Handler):
    """Counts warnings by the logger they came from."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.counts: Counter[str] = Counter()

    @override
    def emit(self, record: logging.LogRecord) -> None:
        # Errors are not counted; they are reported as failures.
        self.counts[record.name] += record.levelno == logging.WARNING


def sync_streams(
    streams: Sequence[LeadIntentStream],
    logger: logging.Logger,
    write_state: Callable[[], None],
    secret: Secret,
) -> None:
    """Sync streams.

    Args:
        streams: The selected streams.
        logger: The tap's logger; gets a line for each stream and one for the run.
        write_state: Writes a STATE and flushes it.
        secret: Hides the key.

    Raises:
        RunError: Streams failed, after the others have been synced.
        SystemExit: A signal came.
        OutputError: Standard output cannot be written.
    """
    attempts, warnings = Attempts(streams), _WarningCounter()
    before = {stream.name: stream.newest_covered for stream in streams}
    logger.addHandler(warnings)
    tried, began = [], monotonic()
    try:
        started = began
        for stream in attempts.each(lambda each: each.sync()):
            tried.append(stream.tally)
            if stream.name in attempts.failures:
                # Its last windows may not have been in a STATE yet.
                write_state()
            seconds, started = monotonic() - started, monotonic()
            warned = counted(warnings.counts[stream.logger.name], "warning")
            stream.logger.info(_summary(stream, before[stream.name], seconds, warned))
    finally:
        logger.removeHandler(warnings)
    logger.info(
        "%s, %s, %s, %s in %.1f s",
        counted(len(tried), "stream"),
        counted(sum(tally.records for tally in tried), "record"),
        counted(sum(tally.requests for tally in tried), "request"),
        counted(warnings.counts.total(), "warning"),
        monotonic() - began,
    )
    attempts.raise_failures(secret)


def _summary(
    stream: LeadIntentStream, before: str | None, seconds: float, warned: str
) -> str:
    tally = stream.tally
    records = counted(tally.records, "record")
    kinds = stream.reader.kinds
    if told := ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if kind and n):
        records += f" ({told})"
    requests = counted(tally.requests, "request")
    retries = counted(tally.retries, "retry", "retries")
    # Avoids a division by zero.
    rate = tally.records / max(seconds, 0.001)
    line = (
        f"{records}, {requests}, {retries}, {tally.seconds_waited:.1f} s waited, "
        f"{warned}; {seconds:.1f} s, {rate:,.0f} records a second"
    )
    if not stream.is_incremental:
        return line
    now = stream.newest_covered
    if now is None:
        return f"{line}; nothing is covered yet"
    if now == before:
        return f"{line}; covered up to {now}, as before"
    was = f"up to {before}" if before else "nothing was"
    return f"{line}; covered up to {now}, before this run {was}"


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
        yield from changes(bookmarks, reading[0].key_mark)
        if reading[0].scope.since > now:
            told = ", ".join(bookmarks)
            yield f"start_date lies in the future; nothing is read of {told}"
