"""The tap: settings, streams, and the command line."""

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any, cast

import click
from singer_sdk import Tap
from singer_sdk.plugin_base import SingerCommand
from singer_sdk.tap_base import CliTestOptionValue
from typing_extensions import override

from tap_leadintent import log
from tap_leadintent.api.clock import ServerClock
from tap_leadintent.api.health import RunHealth
from tap_leadintent.api.http import RunContext
from tap_leadintent.api.limits import RateLimiter
from tap_leadintent.api.session import new_session
from tap_leadintent.client import LeadIntentStream
from tap_leadintent.config import files, names, settings, validation
from tap_leadintent.discovery import infer_columns
from tap_leadintent.errors import ConfigError, OutputError, RunError
from tap_leadintent.interruption import Interruption
from tap_leadintent.openapi import is_documented
from tap_leadintent.records.maps import build_mapper
from tap_leadintent.run import read_each, sync_streams
from tap_leadintent.singer.writer import Writer, flush
from tap_leadintent.streams import STREAMS


class TapLeadIntent(Tap):
    """Singer tap for the buying-intent leads and monitored accounts API."""

    name = "tap-leadintent"
    config_jsonschema = settings.SCHEMA
    message_writer_class = Writer

    @override
    def discover_streams(self) -> list[LeadIntentStream]:
        readers = self.config["concurrency"]
        requests_per_minute = self.config.get("max_requests_per_minute")
        health = RunHealth()
        run_context = RunContext(
            session=new_session(self.config.get("base_url", ""), 2 * readers),
            limiter=RateLimiter(readers, requests_per_minute, health),
            health=health,
            clock=ServerClock(self.logger),
            secret=self._secret,
            interruption=self._interruption,
        )
        streams = [stream(self, run_context) for stream in STREAMS]
        log.prepare_loggers((stream.name for stream in streams), self._secret)
        # A catalog already has the columns; without address and key nothing is read.
        is_ready = {"base_url", "api_key"} <= self.config.keys()
        if self.config.get("infer_columns") and is_ready and not self.input_catalog:
            for stream in streams:
                if not is_documented(stream.name):
                    infer_columns(stream)
        return streams

    @override  # type: ignore[misc]
    def sync_all(self) -> None:
        """Sync the selected streams; when one fails, the others are still synced.

        The SDK marks this method as final, but has no hook around a whole run.

        Raises:
            ConfigError: The catalog cannot work.
            RunError: Streams failed, after the others have been synced; or the
                target stopped reading.
            SystemExit: A signal came; a last STATE has been written.
        """
        selected = self._selected_streams()
        for stream in selected:
            stream.begin_state()
        try:
            self._write_state()
            sync_streams(selected)
        except (RunError, SystemExit):
            # A stream that ended early has noted its last windows. A signal may have
            # ended the target first. After a KeyboardInterrupt, a part of a line may
            # have been written, which nothing must follow.
            with suppress(OutputError):
                self._write_state()
            raise

    def _write_state(self) -> None:
        if self.state:
            self.state_writer.write_state(self.state)
        flush(self.message_writer)

    @property
    def _ours(self) -> dict[str, LeadIntentStream]:
        return cast("dict[str, LeadIntentStream]", self.streams)

    def _selected_streams(self) -> list[LeadIntentStream]:
        """Give the selected streams in the catalog's order; check them."""
        self._refuse(names.catalog_problems(self.catalog, self.streams))
        known = [self._ours[name] for name in self.catalog if name in self.streams]
        return [stream for stream in known if stream.selected]

    def _refuse(self, problems: Iterable[str]) -> None:
        if lines := [*map(self._secret.summarize, problems)]:
            raise ConfigError(lines)

    @cached_property
    def _interruption(self) -> Interruption:
        return Interruption(lambda: getattr(self.message_writer, "taken", 0))

    @override
    def _setup_signal_handlers(self) -> None:
        # Private, as there is no public hook. Signals belong to the program that uses
        # the class. The command line installs handlers of its own, as the SDK's would
        # write a STATE into a line that may be half written, and exit with code 0.
        pass

    @override
    def _validate_config(self, *, raise_errors: bool = True) -> list[str]:
        # Private, as there is no public hook: the SDK does not validate for
        # `--discover`, has no cross-field rules, and quotes values, even the key.
        self.append_builtin_config(schema := self.config_jsonschema)
        self._refuse(validation.validate(self._config, schema, complete=raise_errors))
        for stream, fields in self._config["filters"].items():
            for field in validation.undocumented_filters(stream, fields):
                told = "%s is passed on, though the API description does not show it"
                self.logger.warning(told, field)
        return []

    @override
    def setup_mapper(self) -> None:
        # The streams come first: they take excluded fields out of the catalog.
        streams = self._ours.values()
        self._refuse(line for stream in streams for line in stream.key_problems())
        notes = {stream.name: stream.notes for stream in streams}
        try:
            self.mapper = build_mapper(self.config, self.catalog, notes, self.logger)
        except ConfigError as error:
            # What it says of expressions may quote the key, at any length.
            self._refuse(error.errors)

    @cached_property
    def _secret(self) -> log.Secret:
        return log.Secret(self._config.get("api_key"))

    @classmethod
    @override
    def get_singer_command(cls) -> click.Command:
        command = cast("SingerCommand", super().get_singer_command())
        for option in command.params:
            # The SDK would open files, and discover or test, before all options are
            # read, outside of what it does about errors.
            if option.name in {"state", "catalog"}:
                option.type = click.STRING
            if option.name in {"config", "discover", "test"}:
                option.callback, option.expose_value = None, True
        return command

    @classmethod
    @override
    def invoke(  # type: ignore[override]
        cls,
        *,
        config: tuple[str, ...] = (),
        discover: bool = False,
        test: str = CliTestOptionValue.Disabled.value,
        state: str | None = None,
        catalog: str | None = None,
        **options: Any,
    ) -> None:
        # It does `--about`. `Tap.invoke` would go on to read the files in its own way.
        super(Tap, cls).invoke(**options)
        log.hide_details()
        given: dict[str, Any] = {}
        for path in config:
            if path != "ENV":
                given |= files.read_config(path)
        if "ENV" in config:
            cls.append_builtin_config(schema := cls.config_jsonschema)
            given |= files.read_environment(schema)
        log.redact_handlers(log.Secret(given.get("api_key")))
        tap = cls(
            config=given,
            state=files.read_state(state) if state else None,
            catalog=files.read_catalog(catalog) if catalog and not discover else None,
            validate_config=not discover,
            setup_mapper=not discover,
        )
        if discover:
            tap.run_discovery()
        elif test == CliTestOptionValue.Schema.value:
            tap.write_schemas()
        elif test == CliTestOptionValue.All.value:
            read_each(tap._selected_streams(), LeadIntentStream.check)
        else:
            tap._interruption.install()
            tap.sync_all()
