"""The command lines of this folder, and how their tap gets its settings."""

import json
import os
import sys
import time
from typing import Any, TextIO

import click
import msgspec

from tap_leadintent.checkup import columns
from tap_leadintent.checkup.actions import write_actions
from tap_leadintent.checkup.check import ask_all
from tap_leadintent.checkup.probe import DAY, Api, Probe, readable
from tap_leadintent.checkup.report import Report, write
from tap_leadintent.checkup.statements import write_statements
from tap_leadintent.checkup.suggestions import suggest
from tap_leadintent.checkup.volume import estimate
from tap_leadintent.openapi import STREAM_NAMES
from tap_leadintent.singer import files, log
from tap_leadintent.singer.errors import ConfigError
from tap_leadintent.state_tool.cli import short_errors
from tap_leadintent.state_tool.selection import selected_streams
from tap_leadintent.state_tool.settings import SCHEMA_WITH_MAPS, read_settings
from tap_leadintent.tap import TapLeadIntent
from tap_leadintent.times import format_instant

_HELP = {"help_option_names": ["-h", "--help"]}
_version = click.version_option(package_name="tap-leadintent")
_config = click.option(
    "--config",
    default="ENV",
    help="JSON file of settings, or ENV.",
)
_NAMES = click.Choice(STREAM_NAMES)
_MOST: dict[str, Any] = {
    "type": click.IntRange(min=1),
    "show_default": True,
}
_FILES: dict[str, Any] = {"type": (_NAMES, click.File(encoding="utf-8"))}


@click.command(context_settings=_HELP)
@_config
@_version
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON, not text.",
)
@click.option(
    "--stream",
    multiple=True,
    type=_NAMES,
    help="Check only this stream.",
)
@click.option(
    "--max-requests",
    default=150,
    help="Most requests to send.",
    **_MOST,
)
def main(
    config: str,
    stream: list[str],
    max_requests: int,
    *,
    as_json: bool,
) -> None:
    """Find out how the API behaves, with the settings of tap-leadintent.

    Prints what the API does, what that means, and which settings to change. The output
    holds no record, no id and no key. Exit code: 0 if nothing needs to be done, 1 if
    something does, 2 if the check-up could not be run, 130 after Ctrl-C.
    """
    report = Report()
    began = time.monotonic()
    with short_errors(code=2):
        settings = read_settings(config)
        tap = _connect(settings)
        api = Api(tap, max_requests)
        probes = list[Probe]()
        for name in dict.fromkeys(stream) or selected_streams(STREAM_NAMES, None):
            probes.append(Probe(tap.endpoint_streams[name], api))
        if not probes:
            raise ConfigError("_select: selects no stream")
        try:
            can_read = readable(probes)
            report.findings.extend(ask_all(probes, can_read))
            if can_read:
                estimate(report, can_read)
                suggest(
                    report,
                    can_read,
                    has_start="start_date" in settings,
                )
        except KeyboardInterrupt:
            report.is_interrupted = True
    report.actions = [*write_actions(report.findings)]
    report.requests = max_requests - api.left
    report.seconds = round(time.monotonic() - began, 1)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(report)))
    else:
        click.echo("\n".join(write(report)))
    if report.is_interrupted:
        sys.exit(130)
    sys.exit(int(bool(report.actions)))


@click.command(context_settings=_HELP)
@_config
@_version
@click.option(
    "--pages",
    default=5,
    help="Pages to read of each stream.",
    **_MOST,
)
@click.option(
    "--records",
    multiple=True,
    metavar="STREAM FILE",
    **_FILES,
)
@click.option(
    "--catalog",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
)
@click.option(
    "--statements",
    is_flag=True,
    help="Print SQL that clears excluded fields.",
)
def columns_main(
    config: str,
    pages: int,
    records: list[tuple[str, TextIO]],
    catalog: str | None,
    *,
    statements: bool,
) -> None:
    """Infer typed columns for the streams whose fields are not documented.

    Reads pages of each of these streams, or the JSON lines of --records, and prints the
    value of Meltano's extra `_schema`; with --catalog, that catalog with the columns,
    or what --discover prints. Columns that are set already keep their types.

    With --statements, it prints instead, without a request, the statements for
    PostgreSQL that clear `exclude_fields` in the rows that were loaded before.
    """
    with short_errors():
        if statements:
            tap = _connect(read_settings(config, SCHEMA_WITH_MAPS))
            schema = os.environ.get("MELTANO_EXTRACT__LOAD_SCHEMA", "tap_leadintent")
            click.echo(write_statements(tap.config, schema))
            return
        samples = {name: columns.read_records(file) for name, file in records}
        tap = _connect(read_settings(config), validate=not records)
        found = _columns_in_meltano()
        document = {} if catalog is None else json.loads(tap.catalog_json_text)
        document = files.read_catalog(catalog) if catalog else document
        for entry in document.get("streams", ()):
            schema = entry.setdefault("schema", {})
            found[entry["tap_stream_id"]] = schema.setdefault("properties", {})
        columns.extend(
            tap,
            found,
            samples or columns.sample(tap, pages),
        )
    own = {name: found[name] for name in sorted(found) if found[name]}
    click.echo(json.dumps(document or own, indent=2 if document else None))


def _connect(settings: dict[str, Any], *, validate: bool = True) -> TapLeadIntent:
    """Create the tap; the last year counts if there is no `start_date`."""
    year_ago = format_instant(int(time.time()) - 365 * DAY)[:10]
    config = {
        "start_date": year_ago,
        **settings,
    }
    tap = TapLeadIntent(config=config, validate_config=validate)
    log.redact_whole_log()
    for name, method in selected_streams(STREAM_NAMES, None).items():
        if method:
            tap.endpoint_streams[name].forced_replication_method = method
    return tap


def _columns_in_meltano() -> columns.Columns:
    """Return the columns that are set in Meltano, by stream."""
    text = os.environ.get("TAP_LEADINTENT__SCHEMA") or "{}"
    try:
        return msgspec.json.decode(text, type=columns.Columns)
    except ValueError:
        raise ConfigError("_schema: is not an object of streams") from None
