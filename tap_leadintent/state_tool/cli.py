"""The command line."""

import time
from typing import Any

import click

from tap_leadintent.config.files import read_config, read_environment
from tap_leadintent.config.settings import SCHEMA
from tap_leadintent.config.validation import validate
from tap_leadintent.errors import ConfigError
from tap_leadintent.log import printable
from tap_leadintent.state_tool import states
from tap_leadintent.state_tool.document import StateError, read_document
from tap_leadintent.times import EARLIEST, LATEST, format_instant, parse_instant

_ASKING = (
    *("base_url", "api_key", "filters"),
    *("start_date", "end_date", "lookback_minutes", "recheck_days"),
)
"""The settings that say what a run reads, and the key, which is not shown."""


def instant(text: str) -> int:
    """Read an option's value.

    Args:
        text: An ISO 8601 date or date-time; without an offset it is UTC.

    Returns:
        UTC seconds since 1970.

    Raises:
        click.BadParameter: It is neither.
    """
    try:
        return parse_instant(text)
    except ValueError:
        msg = f"{text!r} is not a date or date-time, such as 2026-01-31"
        raise click.BadParameter(msg) from None


_STATE = click.argument("state", default="-")
_CONFIG = click.option(
    "--config", default="ENV", help="Settings (JSON); by default the environment."
)
_STREAM = click.Choice([*states.RANGES])
_FROM = click.option("--from", "start", type=instant, help="Where it begins.")
_TO = click.option("--to", "end", type=instant, help="Where it ends.")


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
def show(state: str) -> None:
    """Say what is covered of each stream."""
    document = read_document(state)
    for name in states.RANGES:
        for line in states.describe(name, document.bookmarks.get(name, {})):
            _echo(line)


@main.command()
@_STATE
@_CONFIG
@click.option("--stream", type=_STREAM, help="Only this stream.")
@click.option(
    "--at", type=instant, help="Say whether this instant is covered, or read."
)
def plan(state: str, config: str, stream: str | None, at: int | None) -> None:
    """Say what the next run reads of each stream and why; nothing is sent."""
    chosen = _settings(config)
    document = read_document(state)
    now = int(time.time())
    if at is None:
        _echo(f"A run that begins at {format_instant(now)} reads:")
    for name in [stream] if stream else states.RANGES:
        said = document.bookmarks.get(name, {})
        for line in states.describe_plan(name, chosen, said, now, at):
            _echo(line)


@main.command()
@_STATE
@click.option("--stream", type=_STREAM, required=True, help="The stream.")
@_FROM
@_TO
def forget(state: str, stream: str, start: int | None, end: int | None) -> None:
    """Print a state without a stretch of a stream: the next run reads it again.

    It is taken from what the last run's source and filters cover; others are kept.
    Without --from and --to it is all of it.
    """
    gone = (EARLIEST if start is None else start, LATEST if end is None else end)
    document = read_document(state)
    left = states.forget(document.bookmarks.get(stream, {}), stream, gone)
    click.echo(document.with_bookmarks({**document.bookmarks, stream: left}))


@main.command()
@click.argument("shards", nargs=-1, required=True, metavar="STATE...")
@_CONFIG
@click.option("--allow-holes", is_flag=True, help="Gaps between shards may stay.")
@_FROM
@_TO
def join(
    shards: tuple[str, ...],
    config: str,
    start: int | None,
    end: int | None,
    *,
    allow_holes: bool,
) -> None:
    """Print what the STATEs of shards cover together, in the form of the first.

    The lookback before the end of each is left out, so that the next run reads it
    again. With --from and --to, a first or last shard that is missing is noticed, too.
    """
    lookback = int(_settings(config)["lookback_minutes"]) * 60
    documents = [read_document(path) for path in shards]
    bookmarks = [document.bookmarks for document in documents]
    joined = states.join(
        bookmarks, start, end, lookback=lookback, allow_holes=allow_holes
    )
    click.echo(documents[0].with_bookmarks(joined))


def _settings(config: str) -> dict[str, Any]:
    """Read the settings as the tap does, as far as they say what a run reads."""
    schema = {
        "properties": {name: SCHEMA["properties"][name] for name in _ASKING},
        "required": ["base_url"],
    }
    given: dict[str, Any] = {}
    try:
        if config == "ENV":
            given = read_environment(schema)
            given["filters"] = _nested(given.get("filters"))
        else:
            given = read_config(config)
        given = {name: given[name] for name in _ASKING if name in given}
        problems = validate(given, schema, complete=True)
    except ConfigError as error:
        problems = error.errors
    if problems:
        msg = (
            f"{'; '.join(problems)}; in a Meltano project, run `meltano invoke "
            "tap-leadintent:state` without --config"
        )
        raise StateError(msg, given.get("api_key"))
    return given


def _nested(filters: Any) -> Any:  # noqa: ANN401 - any JSON
    """Undo what Meltano makes of an object: `{"leads.sheet_ids": […]}`."""
    if not isinstance(filters, dict):
        return filters
    nested: dict[str, Any] = {}
    for path, value in filters.items():
        stream, _, field = path.partition(".")
        nested |= {stream: nested.get(stream, {}) | {field: value} if field else value}
    return nested


def _echo(line: str) -> None:
    """Print a line; what a terminal would obey in it is escaped."""
    click.echo(printable(line).replace("\n", "\\n"))
