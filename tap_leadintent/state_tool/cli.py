"""The command line."""

from __future__ import annotations

import json
import re
import sys
import time

import click

from tap_leadintent.config.suggestions import did_you_mean
from tap_leadintent.redaction import printable
from tap_leadintent.replication.source import normalised
from tap_leadintent.state_tool import changes, settings
from tap_leadintent.state_tool.bar import BLOCKS, PLAIN
from tap_leadintent.state_tool.document import read_document
from tap_leadintent.state_tool.errors import StateError
from tap_leadintent.state_tool.facts import stream_facts
from tap_leadintent.state_tool.forecast import forecast, source_of
from tap_leadintent.state_tool.forecast_json import forecast_json, instant_json
from tap_leadintent.state_tool.predictions import (
    describe_instant,
    describe_plan,
    describe_unplanned,
)
from tap_leadintent.state_tool.shards import split as split_into
from tap_leadintent.state_tool.streams import (
    Stream,
    declared_streams,
    find,
    streams_in,
)
from tap_leadintent.state_tool.words import describe
from tap_leadintent.times import format_instant, parse_instant

_STATE = click.argument("state", default="-")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tap-leadintent")
def main() -> None:
    """Read, plan by and change the state of tap-leadintent.

    STATE is a file with what `meltano state get` prints, or with a bare Singer state;
    "-", the default, is standard input. Nothing is written but standard output, and
    changed states have the form that they came in. Times are ISO 8601 and UTC.
    """


@main.command()
@_STATE
@click.option("--config", help="Settings (JSON): the lookback, and today's source.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(state: str, config: str | None, *, as_json: bool) -> None:
    """Say what is covered of each stream, what is not, and what is read again."""
    streams = declared_streams()
    chosen = None if config is None else settings.read_settings(config)
    lookback = settings.lookback(chosen or {})
    document = read_document(state, streams)
    found = [
        stream_facts(
            stream,
            document.bookmarks.get(name, {}),
            lookback,
            None if chosen is None else source_of(stream, chosen),
        )
        for name, stream in streams.items()
    ]
    if as_json:
        told = {facts.stream.name: facts.to_json() for facts in found}
        _echo_json(json.dumps({"streams": told}, indent=2))
        return
    marks = BLOCKS if _shows_blocks() else PLAIN
    for facts in found:
        for line in describe(facts, marks):
            _echo(line)


@main.command()
@_STATE
@click.option("--config", required=True, help="Settings (JSON); the key may be absent.")
@click.option("--catalog", help="Catalog (JSON); without it, all streams are selected.")
@click.option("--stream", help="Only this stream.")
@click.option("--at", help="Say whether this instant is covered, or when it will be.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(  # noqa: PLR0913
    state: str,
    config: str,
    catalog: str | None,
    stream: str | None,
    at: str | None,
    *,
    as_json: bool,
) -> None:
    """Say what the next run reads of each stream and why; nothing is sent."""
    streams = streams_in(catalog)
    chosen = settings.read_settings(config)
    instant = None if at is None else _instant("--at", at)
    asked = [*streams.values()] if stream is None else [find(streams, stream)]
    document = read_document(state, streams, may_be_empty=True)
    now = int(time.time())
    forecasts = [
        (
            each,
            forecast(each, chosen, document.bookmarks.get(each.name, {}), now)
            if each.is_selected and each.is_incremental
            else None,
        )
        for each in asked
    ]
    if as_json:
        told = {
            each.name: forecast_json(each, found)
            if instant is None
            else instant_json(found, instant)
            for each, found in forecasts
        }
        at_or_now = now if instant is None else instant
        said = {"at": format_instant(at_or_now), "streams": told}
        _echo_json(json.dumps(said, indent=2))
        return
    if instant is None:
        _echo(f"A run that begins at {format_instant(now)} reads:")
    for each, found in forecasts:
        for line in (
            [describe_unplanned(each)]
            if found is None
            else describe_plan(each, found)
            if instant is None
            else describe_instant(each, found, instant)
        ):
            _echo(line)


@main.command()
@_STATE
@click.option("--stream", required=True, help="The stream.")
@click.option("--range", "name", help="Its time range; without it, all of them.")
@click.option(
    "--from", "start", help="Where the stretch begins; else as it is covered."
)
@click.option("--to", "end", help="Where it ends; else as far as it is covered.")
def forget(
    state: str, stream: str, name: str | None, start: str | None, end: str | None
) -> None:
    """Print a state without a stretch of a stream: the next run reads it again.

    It is taken from what the last run's source and filters cover; others are kept.
    """
    streams = declared_streams()
    found = find(streams, stream)
    ranges = _ranges(found, name)
    bounds = _bounds(start, end)
    document = read_document(state, streams)
    states = changes.forget(document.bookmarks, found, ranges, bounds)
    _echo_json(document.with_bookmarks(states))


@main.command()
@click.argument("states", nargs=-1, required=True)
@click.option("--allow-holes", is_flag=True, help="Gaps between shards may stay.")
@click.option("--from", "start", help="Where what they must cover begins.")
@click.option("--to", "end", help="Where it ends.")
@click.option(
    "--lookback-minutes",
    type=click.IntRange(0),
    default=settings.lookback({}) // 60,
    show_default=True,
    help="As the runs have it.",
)
def join(
    states: tuple[str, ...],
    start: str | None,
    end: str | None,
    lookback_minutes: int,
    *,
    allow_holes: bool,
) -> None:
    """Print what the STATES of shards cover together, in the form of the first.

    The lookback before the end of each is left out, so that the next run reads it
    again.

    With --from and --to, a first or last shard that is missing is noticed, too.
    """
    streams = declared_streams()
    bounds = _bounds(start, end)
    documents = [read_document(path, streams) for path in states]
    joined = changes.join(
        documents,
        [*streams.values()],
        bounds,
        lookback=lookback_minutes * 60,
        allow_holes=allow_holes,
    )
    _echo_json(documents[0].with_bookmarks(joined))


@main.command()
@click.option("--shards", type=int, required=True, help="How many.")
@click.option("--from", "start", required=True, help="Where the first begins.")
@click.option("--to", "end", help="Where the last ends; else now.")
def split(shards: int, start: str, end: str | None) -> None:
    """Print the start_date and end_date of shards of equal length, as JSON."""
    since = _instant("--from", start)
    until = int(time.time()) if end is None else _instant("--to", end, round_up=True)
    _echo_json(json.dumps(split_into(shards, (since, until))))


@main.command()
@_STATE
@click.option("--from-source", required=True, help="The base_url that it is about.")
@click.option("--to-source", required=True, help="The base_url that it is to be about.")
def move(state: str, from_source: str, to_source: str) -> None:
    """Print a state for another base_url: the API has moved, the data has not."""
    streams = declared_streams()
    target = settings.address("--to-source", to_source)
    document = read_document(state, streams)
    states = changes.move(document.bookmarks, normalised(from_source), target)
    _echo_json(document.with_bookmarks(states))


def _echo(line: str) -> None:
    """Print a line; what a terminal would obey in it is escaped."""
    click.echo(printable(line).replace("\n", "\\n"))


def _echo_json(text: str) -> None:
    """Print JSON; it is escaped as JSON is, so it means the same."""
    click.echo(re.sub("[\x7f-\uffff]", lambda found: f"\\u{ord(found[0]):04x}", text))


def _ranges(stream: Stream, name: str | None) -> tuple[str, ...]:
    if not stream.ranges:
        msg = (
            f"--stream: {stream.name} is a full table; every run reads all of it, and "
            "there is nothing to forget"
        )
        raise StateError(msg)
    if name is None:
        return stream.ranges
    if name not in stream.ranges:
        hint = did_you_mean(name, stream.ranges)
        told = hint or f"; there are {', '.join(stream.ranges)}"
        msg = f"--range: there is no time range {name!r} of {stream.name}{told}"
        raise StateError(msg)
    return (name,)


def _bounds(start: str | None, end: str | None) -> tuple[int | None, int | None]:
    since = None if start is None else _instant("--from", start)
    until = None if end is None else _instant("--to", end, round_up=True)
    if since is not None and until is not None and since >= until:
        msg = f"--from: {start} does not come before --to {end}"
        raise StateError(msg)
    return since, until


def _instant(option: str, text: str, *, round_up: bool = False) -> int:
    try:
        return parse_instant(text, round_up=round_up)
    except ValueError:
        msg = f"{option}: {text!r} is not a date or date-time, such as 2026-01-31"
        raise StateError(msg) from None


def _shows_blocks() -> bool:
    encoding = getattr(sys.stdout, "encoding", None) or ""
    return sys.stdout.isatty() and encoding.lower().startswith("utf")
