"""The tap: settings, streams, and the command line."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import click
from singer_sdk import Tap
from singer_sdk.cli import plugin_cli
from singer_sdk.tap_base import CliTestOptionValue
from typing_extensions import override

from tap_leadintent import log
from tap_leadintent.api.client import Shared
from tap_leadintent.api.clock import ServerClock
from tap_leadintent.api.limits import RateLimiter
from tap_leadintent.api.session import BoundedAdapter, new_session
from tap_leadintent.config import files, names, settings, validation
from tap_leadintent.discovery import infer_columns
from tap_leadintent.errors import ConfigError, OutputError
from tap_leadintent.interruption import Interruption
from tap_leadintent.openapi import is_documented
from tap_leadintent.records.maps import build_mapper
from tap_leadintent.replication.plan import Scope
from tap_leadintent.run import check_streams, doubts_about_state, sync_streams
from tap_leadintent.singer.writer import Writer, flush
from tap_leadintent.streams import STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from singer_sdk.plugin_base import SingerCommand

    from tap_leadintent.client import LeadIntentStream


class TapLeadIntent(Tap):
    """Singer tap for the buying-intent leads and monitored accounts API."""

    name = "tap-leadintent"
    config_jsonschema = settings.SCHEMA
    message_writer_class = Writer

    @override
    def discover_streams(self) -> list[LeadIntentStream]:
        readers = self.config["concurrency"]
        shared = Shared(
            session=new_session(BoundedAdapter(pool_maxsize=2 * readers)),
            limiter=RateLimiter(
                at_once=readers,
                requests_per_minute=self.config.get("max_requests_per_minute"),
            ),
            clock=ServerClock(self.logger),
            secret=self._secret,
        )
        scope, stop = Scope.of(self.config), self._interruption
        streams = [
            stream(self, scope=scope, shared=shared, interruption=stop)
            for stream in STREAMS
        ]
        log.name_streams(streams)
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
        for line in doubts_about_state(selected, self.initialized_at // 1000):
            self.logger.warning("%s", self._secret.summarize(line))
        try:
            self._write_state()
            sync_streams(selected, self.logger, self._write_state, self._secret)
        except SystemExit:
            # The signal may have ended the target first.
            with suppress(OutputError):
                self._write_state()
            raise

    @override
    def load_state(self, state: dict[str, Any]) -> None:
        if state and "bookmarks" not in state:
            told = ", ".join(map(repr, state))
            self.logger.warning("The state has no bookmarks; ignored in it: %s", told)
        super().load_state(state)

    def _write_state(self) -> None:
        if self.state:
            self.state_writer.write_state(self.state)
        flush(self.message_writer)

    @property
    def _ours(self) -> dict[str, LeadIntentStream]:
        return cast("dict[str, LeadIntentStream]", self.streams)

    def _selected_streams(self) -> list[LeadIntentStream]:
        """Give the selected streams in the catalog's order; check them."""
        if foreign := [name for name in self.catalog if name not in self.streams]:
            told = self._secret.summarize(", ".join(foreign))
            self.logger.warning("Ignored in the catalog: there is no stream %s", told)
        known = [self._ours[name] for name in self.catalog if name in self.streams]
        selected = [stream for stream in known if stream.selected]
        self._refuse(names.catalog_problems(selected))
        return selected

    def _refuse(self, problems: Iterable[str]) -> None:
        if lines := [*map(self._secret.summarize, problems)]:
            raise ConfigError(lines)

    @cached_property
    def _interruption(self) -> Interruption:
        return Interruption(lambda: getattr(self.message_writer, "pieces", 0))

    @override
    def _handle_termination(self, signum: int, frame: FrameType | None) -> None:
        # Private, as there is no public hook: the SDK's method would write a STATE into
        # a line that may be half written, and exit with code 0.
        self._interruption.signal(signum)

    @override
    def _validate_config(self, *, raise_errors: bool = True) -> list[str]:
        # Private, as there is no public hook: the SDK does not validate for
        # `--discover`, has no cross-field rules, and quotes values, even the key.
        log.keep_out_of_logs(self._secret)
        self.append_builtin_config(schema := self.config_jsonschema)
        self._refuse(validation.validate(self._config, schema, complete=raise_errors))
        for field in validation.undocumented_filters(self._config["filters"]):
            self.logger.warning(
                "%s is passed on, though the API description does not show it", field
            )
        return []

    @override
    def setup_mapper(self) -> None:
        # The streams come first: they take excluded fields out of the catalog.
        notes = {name: stream.notes for name, stream in self._ours.items()}
        try:
            self.mapper = build_mapper(self.config, self.catalog, notes, self.logger)
        except ConfigError as error:
            self._refuse(error.errors)

    @cached_property
    def _secret(self) -> log.Secret:
        return log.Secret(self._config.get("api_key"))

    @plugin_cli
    def cli(cls) -> click.Command:  # noqa: N805 - as the SDK has it
        """Set the log up, and return the command line.

        Returns:
            The command.

        Raises:
            SystemExit: The environment names an unknown log level.
        """
        problem = files.log_level_problem(cls._env_var_prefix)
        root = logging.getLogger()
        others = [*root.handlers]
        command: click.Command = super().cli
        log.hide_details(each for each in root.handlers if each not in others)
        if problem:
            cls.logger.error(problem)
            sys.exit(1)
        return command

    @classmethod
    @override
    def get_singer_command(cls) -> click.Command:
        command = cast("SingerCommand", super().get_singer_command())
        for option in command.params:
            if option.name in {"state", "catalog"}:
                # `invoke` opens them: these would stay open where settings are refused.
                option.type = click.Path(allow_dash=True)
            if option.name in {"config", "discover", "test"}:
                # Their callbacks run before all options are read, outside of what the
                # SDK does about errors.
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
        super(Tap, cls).invoke(**options)
        given: dict[str, Any] = {}
        for path in config:
            if path != "ENV":
                given |= files.read_config(path)
        if "ENV" in config:
            cls.append_builtin_config(schema := cls.config_jsonschema)
            given |= files.read_environment(schema, cls._env_var_prefix, cls.logger)
        states = files.checked("--state", state, files.StateFile)
        streams = files.checked("--catalog", catalog, files.CatalogFile)
        tap = cls(
            config=given,
            state=json.load(states) if states else None,
            catalog=json.load(streams) if streams and not discover else None,
            validate_config=not discover,
            setup_mapper=not discover,
        )
        if discover:
            tap.run_discovery()
        elif test == CliTestOptionValue.Schema.value:
            tap.write_schemas()
        elif test == CliTestOptionValue.All.value:
            check_streams(tap._selected_streams(), tap._secret)
        else:
            tap.sync_all()
