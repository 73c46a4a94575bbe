"""The command lines of this folder, and how their tap gets its settings."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from tap_leadintent.checkup import columns
from tap_leadintent.checkup.check import check
from tap_leadintent.checkup.probe import DAY, Api, Probe
from tap_leadintent.checkup.report import Report, write
from tap_leadintent.config.settings import SCHEMA
from tap_leadintent.errors import TAP_NAME
from tap_leadintent.openapi import STREAM_NAMES
from tap_leadintent.singer import files, log
from tap_leadintent.singer.errors import ConfigError, TapError
from tap_leadintent.state_tool.cli import unflatten
from tap_leadintent.tap import TapLeadIntent
from tap_leadintent.times import format_instant

_HELP = {"help_option_names": ["-h", "--help"]}
_version = click.version_option(package_name="tap-leadintent")
_config = click.option("--config", default="ENV", help="JSON file of settings, or ENV.")
_NAMES = click.Choice(STREAM_NAMES)
_MOST: dict[str, Any] = {"type": click.IntRange(min=1), "show_default": True}


@click.command(context_settings=_HELP)
@_config
@_version
@click.option("--json", "as_json", is_flag=True, help="Print JSON, not text.")
@click.option("--stream", multiple=True, type=_NAMES, help="Check only this stream.")
@click.option("--max-requests", default=150, help="Most requests to send.", **_MOST)
def main(config: str, stream: list[str], max_requests: int, *, as_json: bool) -> None:
    """Find out how the API behaves, with the settings of tap-leadintent.

    Prints what the API does, what that means, and which settings to change. The output
    holds no record, no id and no key. Exit code: 0 if nothing needs to be done, 1 if
    something does, 2 if the check-up could not be run, 130 after Ctrl-C.
    """
    report, began = Report(), time.monotonic()
    with _one_line_errors(code=2):
        tap = _connect(given := _read_settings(config))
        api = Api(tap, max_requests)
        streams = [name for name in STREAM_NAMES if name in (stream or STREAM_NAMES)]
        probes = [Probe(tap.endpoint_streams[name], api) for name in streams]
        try:
            check(report, probes, given)
        except KeyboardInterrupt:
            report.is_interrupted = True
    report.requests = max_requests - api.left
    report.seconds = round(time.monotonic() - began, 1)
    as_bytes = msgspec.json.format(msgspec.json.encode(report))
    click.echo(as_bytes if as_json else "\n".join(write(report)))
    needs_action = any(finding.action for finding in report.findings)
    sys.exit(130 if report.is_interrupted else int(needs_action))


@click.command(context_settings=_HELP)
@_config
@_version
@click.option("--pages", default=5, help="Pages to read of each stream.", **_MOST)
@click.option("--records", multiple=True, metavar="STREAM=FILE", help="JSON lines.")
@click.option("--catalog", is_flag=False, flag_value="", metavar="[FILE]")
def columns_main(
    config: str, pages: int, records: list[str], catalog: str | None
) -> None:
    """Infer typed columns for the streams whose fields are not documented.

    Reads pages of each of these streams, or the files of --records, and prints the
    value of Meltano's extra `_schema`; with --catalog, that catalog with the columns,
    or what --discover prints. Columns that are set already keep their types.
    """
    with _one_line_errors(code=1):
        samples = dict(map(columns.read_records, records))
        tap = _connect(_read_settings(config), validate=not records)
        found = _meltano_extra("_schema")
        document = {} if catalog is None else json.loads(tap.catalog_json_text)
        document = files.read_catalog(catalog) if catalog else document
        for entry in document.get("streams", ()):
            schema = entry.setdefault("schema", {})
            found[entry["tap_stream_id"]] = schema.setdefault("properties", {})
        columns.extend(tap, found, samples or columns.sample(tap, pages))
    own = {name: found[name] for name in sorted(found) if found[name]}
    click.echo(json.dumps(document or own, indent=2 if document else None))


def _read_settings(config: str) -> dict[str, Any]:
    if config != "ENV":
        return files.read_config(config)
    settings = files.read_environment(TAP_NAME, SCHEMA)
    if "filters" in settings:
        settings["filters"] = unflatten(settings["filters"])
    return settings


def _connect(settings: dict[str, Any], *, validate: bool = True) -> TapLeadIntent:
    """Create the tap; the last year counts if there is no `start_date`."""
    year_ago = format_instant(int(time.time()) - 365 * DAY)[:10]
    config = {"start_date": year_ago, **settings}
    tap = TapLeadIntent(config=config, validate_config=validate)
    log.redact_whole_log()
    metadata = _meltano_extra("_metadata")
    for name, stream in tap.endpoint_streams.items():
        if method := metadata.get(name, {}).get("replication-method"):
            stream.forced_replication_method = method
    return tap


def _meltano_extra(name: str) -> dict[str, dict[str, Any]]:
    """Return what Meltano tells a command about an extra of the plugin, by stream."""
    text = os.environ.get(f"TAP_LEADINTENT_{name.upper()}") or "{}"
    try:
        return msgspec.json.decode(text, type=dict[str, dict[str, Any]])
    except ValueError:
        raise ConfigError(f"{name}: is not an object of streams") from None


@contextmanager
def _one_line_errors(code: int) -> Iterator[None]:
    try:
        yield
    except TapError as error:
        click.echo(f"Error: {error.message}", err=True)
        sys.exit(code)
