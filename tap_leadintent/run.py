"""Runs the selected streams, one after the other, and logs what was done."""

import logging
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from traceback import format_tb
from typing import Any

from tap_leadintent import errors
from tap_leadintent.api.traffic import Traffic
from tap_leadintent.budget import log_rest, stop_stream, unreached_first
from tap_leadintent.progress import StreamStats, describe_figures
from tap_leadintent.replication.protocol import IgnoredRangeError, NoThreadError
from tap_leadintent.singer.errors import OutputError, RecordError, RunError
from tap_leadintent.singer.log import summarize
from tap_leadintent.streams.loads import Loads
from tap_leadintent.streams.stream import LeadIntentStream
from tap_leadintent.words import counted

AnyStream = LeadIntentStream | Loads

_MAX_TEXT = 250
"""Characters of the failure in the last line of a run. The line of the stream has all
of its text, and what to do stands at its beginning."""

_MAX_TEXTS = 170
"""Characters of several failures together, as an alert may show 200 of the line."""


def sync_streams(streams: Sequence[AnyStream]) -> None:
    """Sync streams, `loads` last, and log one line for each and one for the run.

    Args:
        streams: The selected streams.

    Raises:
        RunError: Streams failed, after the others have been synced.
        SystemExit: A signal came.
        OutputError: Standard output cannot be written.
    """
    began = monotonic()
    logger = logging.getLogger(errors.TAP_NAME)
    selected: list[LeadIntentStream] = []
    loads: list[Loads] = []
    for stream in streams:
        if isinstance(stream, Loads):
            loads.append(stream)
        else:
            selected.append(stream)
    read = unreached_first(selected)
    for receipts in loads:
        receipts.reported = read
    for stream in read:
        stream.run_context.traffic.budget = stream.settings.max_requests_per_run
    ordered: list[AnyStream] = [*read, *loads]
    try:
        read_each(ordered, _sync)
    except SystemExit as ending:
        number = int(ending.code or 0) - 128
        logger.warning(
            "Stopped by %s; the next run continues from the last state that the loader "
            "has confirmed",
            signal.Signals(number).name,
        )
        raise
    finally:
        log_rest(read, logger)
        seconds = monotonic() - began
        _log_run(ordered, seconds)


def _log_fields(stream: AnyStream, **more: Any) -> dict[str, Any]:
    """Return what a log record says about a stream in fields."""
    return {
        **stream.stats.fields(),
        "stream": stream.name,
        "covered_to": stream.newest_covered,
        **more,
    }


def _sync(stream: AnyStream) -> None:
    """Sync a stream, note how it ended, and log one line about it."""
    try:
        stream.sync()
        stream.stats.has_succeeded = True
    except errors.BudgetSpentError:
        stream.stats.is_stopped = True
        raise
    finally:
        figures = _log_fields(stream)
        text = describe_figures(figures)
        newest = figures["covered_to"]
        if stream.stats.has_succeeded and newest:
            text = f"{text}; complete up to {newest}"
        stream.logger.info("%s", text, extra=figures)


def _log_run(streams: Sequence[AnyStream], seconds: float) -> None:
    tried = 0
    failed: list[str] = []
    figures: dict[str, Any] = StreamStats().fields()
    for stream in streams:
        if stream.stats.began is None:
            continue
        tried += 1
        if stream.stats.failure:
            failed.append(stream.name)
        for name, figure in stream.stats.fields().items():
            figures[name] = round(figures[name] + figure, 3)
    figures["seconds"] = round(seconds, 3)
    figures["failed_streams"] = failed
    text = f"{counted(tried, 'stream')}, {describe_figures(figures)}"
    logging.getLogger(errors.TAP_NAME).info("%s", text, extra=figures)


def _explain(cause: Exception) -> tuple[errors.StreamError, str]:
    """Return the error to show for a stream, and a traceback if it is a bug.

    Args:
        cause: What the stream has raised.

    Returns:
        The error, and the text that follows it in the log; empty if it is not a bug.
    """
    match cause:
        case errors.StreamError():
            return cause, ""
        case RecordError():
            text = cause.message
        case MemoryError():
            text = "lower concurrency or page_size, or allow more memory: it ran out"
        case NoThreadError():
            text = "lower concurrency: the operating system allows no thread"
        case IgnoredRangeError():
            text = (
                "load the stream completely in each run, as the API ignores its time "
                "range: see Another replication method in docs/recipes.md"
            )
            detail = f"it returns records of {cause} for times that cannot have any"
            return errors.StreamError(text, detail=detail), ""
        case _:
            # The text of the error is left out: it may quote a record.
            text = f"{type(cause).__name__}, which is a bug of the tap"
            places = "".join(format_tb(cause.__traceback__))
            report = f"; report it with these lines:\n{places}"
            return errors.StreamError(text), report
    return errors.StreamError(text), ""


def read_each(
    streams: Sequence[AnyStream],
    read: Callable[[AnyStream], None],
) -> None:
    """Read streams; when one fails, the others are still read, unless none can be.

    Args:
        streams: The streams.
        read: Reads one stream, or raises an error.

    Raises:
        RunError: Some of the streams failed; the message says why.
        SystemExit: A signal came.
        OutputError: Standard output cannot be written.
    """
    failed: dict[str, errors.StreamError] = {}
    not_tried: list[AnyStream] = []
    has_ended = False
    for stream in streams:
        if has_ended and not isinstance(stream, Loads):
            not_tried.append(stream)
            continue
        stream.stats.began = stream.stats.monotonic()
        try:
            read(stream)
        except OutputError:
            raise
        except errors.BudgetSpentError:
            has_ended = True
            if isinstance(stream, LeadIntentStream):
                is_first = stream is streams[0]
                too_few = stop_stream(stream, is_first=is_first)
                if too_few:
                    _log_failure(stream, too_few, failed)
        except Exception as cause:  # noqa: BLE001 - none may end the others
            error = _log_failure(stream, cause, failed)
            has_ended |= stream.run_context.traffic.note_failure(error)
        finally:
            stream.stats.end()
    if failed:
        summary = _summarize_failures(streams, failed)
        if not_tried:
            number = counted(len(not_tried), "stream")
            summary = f"{summary}; {number} not tried"
        raise RunError(summary)


def _summarize_failures(
    streams: Sequence[AnyStream],
    failed: Mapping[str, errors.StreamError],
) -> str:
    """Return how many streams failed, and why."""
    names = set(failed)
    for stream in streams:
        # A user who counts streams does not count the receipts of the run.
        if not isinstance(stream, Loads):
            names.add(stream.name)
    traffic = streams[0].run_context.traffic
    reasons = "; ".join(_by_message(failed, traffic))
    return f"{len(failed)} of {len(names)} streams failed: {reasons}"


def _log_failure(
    stream: AnyStream,
    cause: Exception,
    failed: dict[str, errors.StreamError],
) -> errors.StreamError:
    """Log why a stream failed, and add it to those that failed before."""
    error, places = _explain(cause)
    text = f"{error}{places}"
    for name, other in failed.items():
        if other.message == error.message:
            text = f"failed like {name}"
            break
    # The last line of the run, which repeats this, may come hours later.
    extra = _log_fields(
        stream,
        status=error.status,
        reason=error.reason,
    )
    stream.logger.error("%s", text, extra=extra)
    failed[stream.name] = error
    stream.stats.failure = error
    return error


def _by_message(
    failed: Mapping[str, errors.StreamError],
    traffic: Traffic,
) -> Iterator[str]:
    """Yield what to do about each failure, and the streams that it is about."""
    names = defaultdict[str, list[str]](list)
    for name, error in failed.items():
        message = error.message
        if traffic.has_succeeded and error.if_others_succeed:
            message = error.if_others_succeed
        names[message].append(name)
    most = _MAX_TEXTS // len(names)
    for message, alike in names.items():
        text = message
        if len(names) == 1:
            # With several failures, their details would hide what to do about the last.
            text = str(failed[alike[0]].changed(message=message))
            most = _MAX_TEXT
        summary = summarize(text, len(text) + 1)
        line = f"{', '.join(alike)}: {summary}"
        if len(line) > most:
            line = f"{line[:most]}…"
        yield line
