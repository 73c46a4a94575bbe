"""The tap: its settings, its streams, a run of it, and its command line.

Creating the tap calls `_validate_config` and then `setup_mapper`, which needs the
streams and so calls `discover_streams`. After that, `sync_all` syncs the selected
streams. The command line creates a tap in `invoke`.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any

import click
from singer_sdk import Tap
from singer_sdk.tap_base import CliTestOptionValue
from typing_extensions import override

from tap_leadintent.api.clock import ServerClock
from tap_leadintent.api.health import RunHealth
from tap_leadintent.api.http import RunContext
from tap_leadintent.api.limits import RateLimiter
from tap_leadintent.api.session import new_session
from tap_leadintent.client import LeadIntentStream
from tap_leadintent.config import names, settings, validation
from tap_leadintent.discovery import infer_columns
from tap_leadintent.errors import TAP_NAME, ConfigError, OutputError, RunError
from tap_leadintent.interruption import Interruption
from tap_leadintent.openapi import is_documented
from tap_leadintent.run import read_each, sync_streams
from tap_leadintent.singer import files, log
from tap_leadintent.singer.mapper import build_mapper
from tap_leadintent.singer.writer import Writer, flush
from tap_leadintent.streams import STREAMS


class TapLeadIntent(Tap):
    """Singer tap for the buying-intent leads and monitored accounts API."""

    name = TAP_NAME
    config_jsonschema = settings.SCHEMA
    message_writer_class = Writer
    streams: dict[str, LeadIntentStream]  # type: ignore[assignment]

    @override
    def _validate_config(self, *, raise_errors: bool = True) -> list[str]:
        # A private method, as there is no public hook. The SDK does not validate for
        # `--discover`, has no rules about several settings, and quotes values, even
        # the key.
        # The call adds the SDK's own settings, such as `stream_maps`, to the schema.
        self.append_builtin_config(schema := self.config_jsonschema)
        problems = validation.validate(self._config, schema, complete=raise_errors)
        self._raise_if_any(problems)
        return []

    @override
    def _setup_signal_handlers(self) -> None:
        # A private method, as there is no public hook. Signals belong to the program
        # that uses the class. The command line installs handlers of its own: those of
        # the SDK would write a STATE into a line that may be half written, and exit
        # with code 0.
        pass

    @override
    def setup_mapper(self) -> None:
        # `self.streams` creates the streams, which remove excluded fields from the
        # catalog. The mapper must not see those.
        streams = self.streams
        try:
            self.mapper = build_mapper(self.config, self.catalog, streams, self.logger)
        except ConfigError as error:
            # A message about an expression may quote the key, and be of any length.
            self._raise_if_any(error.errors)

    @override
    def discover_streams(self) -> list[LeadIntentStream]:
        readers = self.config["concurrency"]
        requests_per_minute = self.config.get("max_requests_per_minute")
        # Requests of a stream that failed are not waited for. They may hang and keep
        # their connections, so there are twice as many as a stream needs.
        session = new_session(self.config.get("base_url", ""), 2 * readers)
        agent = self.config.get("user_agent") or f"{TAP_NAME}/{self.plugin_version}"
        authorization = f"Bearer {self.config.get('api_key')}"
        session.headers.update({"User-Agent": agent, "Authorization": authorization})
        health = RunHealth()
        run_context = RunContext(
            session=session,
            limiter=RateLimiter(readers, requests_per_minute, health),
            health=health,
            clock=ServerClock(self.logger),
            secret=self._secret,
            interruption=self._interruption,
        )
        streams = [stream_class(self, run_context) for stream_class in STREAMS]
        log.redact_tap_log((stream.name for stream in streams), self._secret)
        # A given catalog has the columns already, and without an address and a key no
        # request can be sent.
        can_read = {"base_url", "api_key"} <= self.config.keys()
        if self.config.get("infer_columns") and can_read and not self.input_catalog:
            for stream in streams:
                if not is_documented(stream.name):
                    infer_columns(stream)
        return streams

    @override  # type: ignore[misc]
    def sync_all(self) -> None:
        """Sync the selected streams; when one fails, the others are still synced.

        The SDK marks this method as final, but has no hook around a run.

        Raises:
            ConfigError: The catalog cannot work.
            RunError: Streams failed, after the others have been synced; or the
                target stopped reading.
            SystemExit: A signal came; a last STATE has been written if there was
                anything new to say.
        """
        selected = self._selected_streams()
        for stream in selected:
            stream.begin_state()
        try:
            self._write_state()
            sync_streams(selected)
        except (RunError, SystemExit):
            # A stream that ended early has noted its last windows, so a last STATE is
            # written. If the target has ended, too, that is not possible. After a
            # KeyboardInterrupt nothing is written, because the output may end with a
            # part of a line.
            with suppress(OutputError):
                self._write_state()
            raise

    def _selected_streams(self) -> list[LeadIntentStream]:
        """Return the selected streams in the order of the catalog.

        It is alphabetical if discovery has made the catalog.

        Raises:
            ConfigError: The catalog cannot work.
        """
        self._raise_if_any(names.catalog_problems(self.catalog, self.streams))
        known = [self.streams[name] for name in self.catalog if name in self.streams]
        return [stream for stream in known if stream.selected]

    def _write_state(self) -> None:
        if self.state:
            self.state_writer.write_state(self.state)
        flush(self.message_writer)

    @cached_property
    def _secret(self) -> log.Secret:
        """The API key, which no message may show."""
        return log.Secret(self._config.get("api_key"))

    @cached_property
    def _interruption(self) -> Interruption:
        return Interruption(lambda: getattr(self.message_writer, "taken", 0))

    def _raise_if_any(self, problems: Iterable[str]) -> None:
        """Raise a `ConfigError` if there are problems, without the key in its lines."""
        if lines := [self._secret.summarize(problem) for problem in problems]:
            raise ConfigError(lines)

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
        # `PluginBase.invoke` does `--about`. `Tap.invoke` is left out, as it would then
        # read the files in its own way.
        super(Tap, cls).invoke(**options)
        # Later files override earlier ones, and the environment overrides all files.
        values: dict[str, Any] = {}
        for path in config:
            if path != "ENV":
                values |= files.read_config(path)
        cls.append_builtin_config(schema := cls.config_jsonschema)
        if "ENV" in config:
            values |= files.read_environment(schema)
        files.warn_of_misspelled_variables(schema)
        log.redact_whole_log(log.Secret(values.get("api_key")))
        tap = cls(
            config=values,
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

    @classmethod
    @override
    def get_singer_command(cls) -> click.Command:
        command = super().get_singer_command()
        for option in command.params:
            # The SDK's callbacks would open files, and discover or test, before all
            # options are read, and where its handling of errors does not reach.
            if option.name in {"state", "catalog"}:
                option.type = click.STRING
            if option.name in {"config", "discover", "test"}:
                option.callback, option.expose_value = None, True
        return command
