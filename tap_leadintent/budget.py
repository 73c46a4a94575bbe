"""Ends a run that has used up `max_requests_per_run`, and says what is left.

The next run goes on. It begins with the streams that this one has not reached, so that
a stream with much to read cannot keep all others from being read.
"""

import logging
from collections.abc import Sequence
from math import ceil

from tap_leadintent.errors import StreamError
from tap_leadintent.streams.stream import LeadIntentStream
from tap_leadintent.words import counted


def unreached_first(streams: Sequence[LeadIntentStream]) -> list[LeadIntentStream]:
    """Return streams in the order in which a run reads them.

    Args:
        streams: The selected streams.

    Returns:
        The streams, sorted by how many runs in a row have not reached them, the most
        first.
    """
    if not any(stream.settings.max_requests_per_run for stream in streams):
        return list(streams)
    return sorted(streams, key=lambda stream: -stream.runs_not_reached)


def stop_stream(
    stream: LeadIntentStream,
    *,
    is_first: bool,
) -> StreamError | None:
    """Note that a stream could not be read to its end.

    Args:
        stream: The stream that was read when the requests were used up.
        is_first: Whether it is the first stream of the run, and so had all requests.

    Returns:
        The error of the stream if no run with so few requests can go on.
    """
    if stream.is_incremental and stream.replication.has_completed:
        return None
    if is_first:
        budget = stream.run_context.traffic.budget
        what = "its list"
        if stream.is_incremental:
            what = "one window of it"
        return StreamError(
            f"raise max_requests_per_run (now {budget}) to at least twice as many: a "
            f"run that used them all for this stream could not complete {what}"
        )
    stream.note_not_reached()
    return None


def log_rest(
    streams: Sequence[LeadIntentStream],
    logger: logging.Logger,
) -> None:
    """Say what a run that was stopped has left, and save which streams come first.

    Args:
        streams: The selected streams.
        logger: Gets the line.
    """
    stopped = [stream for stream in streams if stream.stats.is_stopped]
    if not stopped:
        return
    not_reached = [stream for stream in streams if stream.stats.began is None]
    for stream in not_reached:
        stream.note_not_reached()
    left: list[str] = []
    for stream in stopped:
        stream.write_state()
        if stream.stats.failure is None:
            left.append(_describe_stopped(stream))
    if not_reached:
        number = counted(len(not_reached), "stream")
        left.append(f"{number} not read")
    logger.info(
        "max_requests_per_run (%s) is used up, and the next run goes on: %s",
        stopped[0].run_context.traffic.budget,
        "; ".join(left),
    )


def _describe_stopped(stream: LeadIntentStream) -> str:
    if not stream.is_incremental or not stream.replication.has_completed:
        return f"{stream.name} is to be read from its beginning"
    replication = stream.replication
    owed = replication.owed()
    done = replication.owed_at_begin - owed
    text = f"{stream.name} is complete up to {stream.newest_covered}"
    if replication.owed_before and owed >= replication.owed_before:
        return f"{text}, and never gets complete with so few requests"
    if done > 0:
        runs = counted(ceil(owed / done), "more run")
        return f"{text}, and takes about {runs}"
    return text
