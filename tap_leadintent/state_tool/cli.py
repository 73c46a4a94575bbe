"""The command line of `tap-leadintent-state`."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from typing_extensions import override

from tap_leadintent.config.place import place_of
from tap_leadintent.config.settings import Settings
from tap_leadintent.singer.errors import TapError
from tap_leadintent.singer.log import printable, summarize
from tap_leadintent.state_tool import changes, describe
from tap_leadintent.state_tool.bookmarks import RANGES, is_full_table
from tap_leadintent.state_tool.document import RawState, StateError, read_document
from tap_leadintent.state_tool.plan import COUNTS_WRITTEN, describe_plan
from tap_leadintent.state_tool.selection import selected_streams
from tap_leadintent.state_tool.settings import valid_settings
from tap_leadintent.streams.state import COVERAGE
from tap_leadintent.times import EARLIEST, LATEST, format_instant, parse_instant

_PLAN_SETTINGS = (
    "base_url",
    "api_key",
    "filters",
    "exclude_fields",
    "stream_maps",
    "start_date",
    "end_date",
    "lookback_days",
    "load_receipts",
)
"""The settings that decide what a run reads and counts, and the key, so that it can be
hidden."""


def instant(text: str) -> int:
    """Return the value of an option as UTC seconds since 1970.

    Args:
        text: An ISO 8601 date or date-time. Without an offset it is UTC.

    Raises:
        click.BadParameter: The text is neither.
    """
    try:
        return parse_instant(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a date or date-time, such as 2026-01-31"
        ) from None


_STATE = click.argument("state", default="-")
_CONFIG = click.option(
    "--config",
    default="ENV",
    help="A JSON file of settings, or ENV (the default).",
)
_UNUSED = click.option(
    "--config",
    expose_value=False,
    hidden=True,
)
_STREAM = click.Choice([*RANGES])
_TIME: Any = {"type": instant, "metavar": "TIME"}
_START = "Start of the time, such as 2026-05-03 (UTC)."
_FROM = click.option(
    "--from",
    "start",
    help=_START,
    **_TIME,
)
_TO = click.option(
    "--to",
    "end",
    help="End of the time.",
    **_TIME,
)


@contextmanager
def short_errors(code: int = 1) -> Iterator[None]:
    """End a command after a `TapError` with this exit code and a line a problem."""
    try:
        yield
    except TapError as error:
        for line in error.message.splitlines():
            click.echo(f"Error: {summarize(line)}", err=True)
        sys.exit(code)


class _Commands(click.Group):
    """The commands, which end after a `TapError` with exit code 1."""

    @override
    def invoke(self, ctx: click.Context) -> Any:
        with short_errors():
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tap-leadintent")
def main() -> None:
    """Explain and change the state of tap-leadintent.

    STATE is a file with the output of `meltano state get`, or with the value of a
    Singer STATE message; "-", the default, is standard input. The commands send no
    request and write only to standard output. A changed state has the form of the one
    that was read. Times are ISO 8601 and UTC.
    """


@main.command()
@_STATE
@_CONFIG
def show(state: str, config: str) -> None:
    """Show which time intervals have been read of each stream."""
    settings = valid_settings(config, ["start_date"])
    states = read_document(state).states
    shown = describe.shown_time(
        settings,
        states.values(),
        int(time.time()),
    )
    _echo(describe.explain(shown, is_plan=False))
    for name in RANGES:
        for line in describe.describe(
            name,
            states.get(name, {}),
            shown,
        ):
            _echo(line)


@main.command()
@_STATE
@_CONFIG
@click.option(
    "--stream",
    type=_STREAM,
    help="Show only this stream.",
)
@click.option(
    "--at",
    help="Say when this instant is read.",
    **_TIME,
)
@click.option("--catalog", help="The catalog of the run.")
def plan(
    state: str,
    config: str,
    stream: str | None,
    at: int | None,
    catalog: str | None,
) -> None:
    """Show what the next run reads of each stream, and why.

    Meltano passes the selection on. Elsewhere, give the --catalog of the run; without
    it, all streams count as selected.
    """
    settings = valid_settings(
        config,
        _PLAN_SETTINGS,
        ["base_url", "start_date"],
    )
    states = read_document(state).states
    methods = selected_streams(RANGES, catalog)
    now = int(time.time())
    shown = describe.shown_time(
        settings,
        states.values(),
        now,
    )
    if at is None:
        _echo(f"A run that begins at {format_instant(now)} reads:")
        _echo(describe.explain(shown, is_plan=True))
    names = [stream] if stream else [*RANGES]
    not_selected: list[str] = []
    for name in names:
        if name not in methods:
            not_selected.append(name)
            continue
        stream_state = states.get(name, {})
        if is_full_table(name, stream_state, methods[name]):
            _echo(f"{name}: {describe.FULL_TABLE}")
            if settings["load_receipts"] and at is None:
                _echo(f"  {COUNTS_WRITTEN}")
            continue
        for line in describe_plan(
            name,
            settings,
            stream_state,
            shown,
            at,
        ):
            _echo(line)
    if not_selected:
        _echo(f"Not selected: {', '.join(not_selected)}")


@main.command()
@_STATE
@_UNUSED
@click.option(
    "--stream",
    type=_STREAM,
    help="Forget only this stream.",
)
@_FROM
@_TO
def forget(
    state: str,
    stream: str | None,
    start: int | None,
    end: int | None,
) -> None:
    """Mark time as unread, so that the next run reads it again.

    Prints the changed state. Without --from and --to, everything that has been read is
    forgotten.
    """
    if start is None:
        start = EARLIEST
    if end is None:
        end = LATEST
    if start >= end:
        raise StateError("--from: must be before --to")
    document = read_document(state)
    states = document.states
    if stream:
        names = [stream]
    else:
        names = [name for name in RANGES if COVERAGE in states.get(name, {})]
    changed: dict[str, RawState] = {}
    problems: list[str] = []
    for name in names:
        try:
            changed[name] = changes.forget(
                states.get(name, {}),
                name,
                (start, end),
            )
        except StateError as problem:
            problems.append(problem.message)
    if problems and not changed:
        raise StateError("; ".join(problems))
    click.echo(document.with_states({**states, **changed}))


@main.command()
@_STATE
@_CONFIG
@click.option(
    "--stream",
    type=_STREAM,
    help="Adopt only this stream.",
)
def adopt(
    state: str,
    config: str,
    stream: str | None,
) -> None:
    """Let a state belong to the address, environment and schema of the settings.

    Prints the changed state. Use it where only a name has changed, and the rows that
    were loaded are the same as those of the new name.
    """
    settings = Settings.of(
        valid_settings(
            config,
            _PLAN_SETTINGS,
            ["base_url"],
        )
    )
    document = read_document(state)
    changed = dict(document.states)
    names = [stream] if stream else [*RANGES]
    for name in names:
        if COVERAGE in changed.get(name, {}) or stream:
            place = place_of(settings, name)
            changed[name] = changes.adopt(changed.get(name, {}), name, place)
    click.echo(document.with_states(changed))


@main.command()
@click.argument(
    "shards",
    nargs=-1,
    required=True,
    metavar="STATE...",
)
@_UNUSED
@click.option(
    "--allow-holes",
    is_flag=True,
    help="Accept gaps; the next run reads them.",
)
@_FROM
@_TO
def join(
    shards: tuple[str, ...],
    start: int | None,
    end: int | None,
    *,
    allow_holes: bool,
) -> None:
    """Combine the states of a parallel backfill.

    The result has the form of the first. With --from and --to, a missing first or last
    shard is noticed, too.
    """
    documents = list(map(read_document, shards))
    shards_states = [document.states for document in documents]
    joined = changes.join(
        shards_states,
        start,
        end,
        allow_holes=allow_holes,
    )
    click.echo(documents[0].with_states(joined))


def _echo(line: str) -> None:
    """Print a line. Characters that a terminal would obey are escaped."""
    click.echo(printable(line).replace("\n", "\\n"))
