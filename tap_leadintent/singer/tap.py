"""A base for taps, and their command line.

It differs from the SDK in four ways. Settings are validated in each command, and no
secret is quoted. A program that uses the class keeps its signal handlers. A tap may
sync the other streams when one fails. Each problem is one line on the command line.

Creating a tap calls `_validate_config` and then `setup_mapper`, which needs the streams
and so calls `discover_streams`. After that, `sync_all` syncs the selected streams. The
command line creates a tap in `invoke`.
"""

import ctypes
import gc
import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import click
from singer_sdk import Tap
from singer_sdk.helpers.capabilities import CapabilitiesEnum, PluginCapabilities
from singer_sdk.metrics import get_metrics_logger
from singer_sdk.singerlib import StateMessage
from singer_sdk.tap_base import CliTestOptionValue
from typing_extensions import override

from tap_leadintent.singer import checks, files, log
from tap_leadintent.singer.errors import ConfigError, OutputError, TapError
from tap_leadintent.singer.help import SDK_SETTINGS, explain
from tap_leadintent.singer.interruption import Interruption
from tap_leadintent.singer.mapper import build_mapper
from tap_leadintent.singer.stream import SingerStream
from tap_leadintent.singer.writer import Writer

_M_ARENA_MAX = -8
"""The number that glibc's `malloc.h` gives the setting."""

StreamT = TypeVar("StreamT", bound=SingerStream)


class SingerTap(Tap, Generic[StreamT]):
    """A tap whose streams are `SingerStream`s.

    A subclass has `name`, `config_jsonschema` and `discover_streams`, as with the SDK,
    and `sync_streams` and `check_streams`. The other class attributes may stay as they
    are.
    """

    message_writer_class = Writer
    capabilities: ClassVar[list[CapabilitiesEnum]] = [
        each for each in Tap.capabilities if each is not PluginCapabilities.BATCH
    ]
    streams: dict[str, StreamT]  # type: ignore[assignment]

    setting_checks: Sequence[checks.Check] = ()
    """Find problems of the settings that their schema cannot."""

    see_also: str = ""
    """The last lines of `--help`."""

    sync_streams: Callable[[Sequence[StreamT]], None]
    """Syncs the selected streams. It raises a `RunError` if some failed, after the
    others have been synced, or if the target stopped reading."""

    check_streams: Callable[[Sequence[StreamT]], None]
    """Checks for `--test` that the selected streams can be read, or raises a
    `RunError`."""

    @cached_property
    def interruption(self) -> Interruption:
        """Ends the run after a signal, if the process is the tap's own."""
        return Interruption(lambda: getattr(self.message_writer, "taken", 0))

    @override
    def _validate_config(self, *, raise_errors: bool = True) -> list[str]:
        # A private method, as there is no public hook. The SDK does not validate for
        # `--discover`, has no rules about several settings, and quotes values, even
        # secret ones.
        self._hide_secrets(self._config)
        self.logger.addFilter(log.Redaction())
        schema = self.config_jsonschema
        # The call adds the SDK's own settings, such as `stream_maps`.
        self.append_builtin_config(schema)
        problems = checks.find_problems(
            self._config,
            schema,
            self.name,
            complete=raise_errors,
            checks=self.setting_checks,
        )
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
        # Creating the streams may change the catalog, so the mapper reads it later.
        self.mapper = build_mapper(self, self.streams)

    @override  # type: ignore[misc]
    def sync_all(self) -> None:
        """Sync the selected streams; when one fails, the others are still synced.

        The last message is a STATE, even if the state has not changed since the one
        before. The SDK marks this method as final, but has no hook around a run.

        Raises:
            ConfigError: The catalog cannot work, or the state belongs elsewhere.
            RunError: Streams failed, after the others have been synced; or the
                target stopped reading.
            SystemExit: A signal came.
        """
        selected = self._selected_streams()
        # No message is written then, as the state may belong to another pipeline.
        self._raise_if_any(self.state_problems(selected))
        for stream in selected:
            stream.begin_state()
        if self.state:
            self.state_writer.write_state(self.state)
        try:
            self.sync_streams(selected)
        except BaseException:
            # The target may have ended, too, which is not why the run ends.
            with suppress(OutputError):
                self._end_with_state()
            raise
        self._end_with_state()

    def state_problems(self, streams: Sequence[StreamT]) -> Iterable[str]:  # noqa: ARG002
        """Return why no run can go on from the state; a tap may override it.

        Args:
            streams: The selected streams.

        Returns:
            A line for each problem, which begins with what to do.
        """
        return []

    def _end_with_state(self) -> None:
        """Repeat the last STATE, unless it is the last message."""
        # Some loaders forget a STATE as soon as another record comes, and the SDK
        # writes no STATE twice.
        if not getattr(
            self.message_writer,
            "ends_with_state",
            False,
        ):
            self.message_writer.write_message(StateMessage(value=self.state))

    def _selected_streams(self) -> list[StreamT]:
        """Return the selected streams in the order of the catalog.

        It is alphabetical if discovery has made the catalog.

        Raises:
            ConfigError: The catalog cannot work.
        """
        problems = checks.catalog_problems(self.catalog, self.streams)
        self._raise_if_any(problems)
        selected: list[StreamT] = []
        for name in self.catalog:
            stream = self.streams.get(name)
            if stream and stream.selected:
                selected.append(stream)
        return selected

    @classmethod
    def _hide_secrets(cls, config: Mapping[str, Any]) -> None:
        """Hide the values of the settings that are secret."""
        settings = cls.config_jsonschema["properties"]
        for name, setting in settings.items():
            if setting.get("secret"):
                log.hide(config.get(name))

    def _raise_if_any(self, problems: Iterable[str]) -> None:
        """Raise a `ConfigError` if there are problems, without secrets in its lines."""
        lines = list(map(log.summarize, problems))
        if lines:
            raise ConfigError("\n".join(lines))

    @classmethod
    @override
    def invoke(cls, **options: Any) -> None:
        try:
            cls._invoke(**options)
        except TapError as error:
            # Logged, not printed: Meltano does not show printed lines as errors.
            for line in error.message.splitlines():
                logging.getLogger(cls.name).error("%s", line)  # noqa: TRY400
            raise SystemExit(1) from None

    @classmethod
    def _invoke(
        cls,
        *,
        config: tuple[str, ...] = (),
        discover: bool = False,
        test: str = CliTestOptionValue.Disabled.value,
        state: str | None = None,
        catalog: str | None = None,
        **options: Any,
    ) -> None:
        if options["about"]:
            cls.print_about(options["about_format"])
            return
        # Later files override earlier ones, and the environment overrides all files.
        values: dict[str, Any] = {}
        for path in config:
            if path != "ENV":
                values |= files.read_config(path)
        schema = cls.config_jsonschema
        cls.append_builtin_config(schema)
        if "ENV" in config:
            values |= files.read_environment(cls.name, schema)
        # A secret may stand in a path or a catalog by mistake.
        cls._hide_secrets(values)
        log.redact_whole_log()
        level = get_metrics_logger().level
        tap = cls(
            config=values,
            state=files.read_state(state) if state else None,
            catalog=files.read_catalog(catalog) if catalog and not discover else None,
            validate_config=not discover,
            setup_mapper=not discover,
        )
        # The SDK overrides the level that `SINGER_SDK_LOG_CONFIG` sets.
        get_metrics_logger().setLevel(level)
        if discover:
            tap.run_discovery()
        elif test == CliTestOptionValue.Schema.value:
            tap.write_schemas()
        elif test != CliTestOptionValue.Disabled.value:
            tap.check_streams(tap._selected_streams())
        else:
            _tune_process()
            tap.interruption.install()
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
                option.callback = None
                option.expose_value = True
        explain(command, cls.see_also)
        return command

    @classmethod
    @override
    def append_builtin_config(cls, config_jsonschema: dict[str, Any]) -> None:
        super().append_builtin_config(config_jsonschema)
        for name, description in SDK_SETTINGS.items():
            config_jsonschema["properties"][name]["description"] = description

    @classmethod
    @override
    def print_about(cls, output_format: str | None = None) -> None:
        # The SDK's text has no descriptions and no defaults.
        super().print_about(output_format or "markdown")


def _tune_process() -> None:
    """Set the process up for speed and little memory; it must be the tap's own."""
    # Records have no cycles, and to look for them takes 3 % of the time.
    gc.set_threshold(20_000)
    # With the usual 5 ms, threads that ask for their turn take another 4 %.
    sys.setswitchinterval(0.02)
    # With a heap for each thread, each reader would keep the most memory that it has
    # needed at any time. Only glibc has these heaps.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
