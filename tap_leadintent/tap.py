"""The tap: settings, streams, and how a run is entered."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, cast

from singer_sdk import Tap
from singer_sdk.contrib.msgspec import MsgSpecWriter
from singer_sdk.exceptions import SingerSDKError

from tap_leadintent import files, secret, settings
from tap_leadintent.errors import ConfigError, RunError
from tap_leadintent.interruption import Interruption
from tap_leadintent.pacing import Pace
from tap_leadintent.streams import STREAMS
from tap_leadintent.summary import WarningCounter, describe, describe_failures

if TYPE_CHECKING:
    from types import FrameType

    import click
    from singer_sdk.plugin_base import SingerCommand, _ConfigInput

    from tap_leadintent.replication import LeadIntentStream


class TapLeadIntent(Tap):
    """Singer tap for the buying-intent leads and monitored accounts API."""

    name = "tap-leadintent"
    config_jsonschema = settings.SCHEMA
    message_writer_class = MsgSpecWriter

    def discover_streams(self) -> list[LeadIntentStream]:
        """Give the streams, which are the same for every key.

        Returns:
            One stream for each endpoint.
        """
        limit = self.config.get("max_requests_per_minute")
        pace = Pace(self._interruption, limit)
        return [stream(self, pace=pace) for stream in STREAMS]

    def sync_all(self) -> None:  # type: ignore[misc]
        """Sync the selected streams; one that fails does not cost the others.

        Overrides what the SDK calls final, for want of a hook around a whole run.

        Raises:
            RunError: Streams failed, after the others have been synced; or the
                target stopped reading.
            SystemExit: A signal came; the last true state has been written.
        """
        selected = [stream for stream in self._own_streams if stream.selected]
        for stream in selected:
            stream.begin_state()
        failures: dict[str, str] = {}
        warnings = WarningCounter()
        self.logger.addHandler(warnings)
        try:
            self.state_writer.write_state(self.state)
            for stream in selected:
                began = stream.newest_covered
                if problem := self._sync(stream):
                    failures[stream.name] = problem
                    # What it has covered may not have been due for a STATE yet.
                    self.state_writer.write_state(self.state)
                self.logger.info(describe(stream, began, warnings))
            sys.stdout.flush()
        except SystemExit:
            # Whoever ends the run may have ended the target before.
            try:
                self.state_writer.write_state(self.state)
                sys.stdout.flush()
            except BrokenPipeError:
                _let_go_of_stdout()
            raise
        except BrokenPipeError:
            _let_go_of_stdout()
            msg = "the target stopped reading; its own log says why"
            raise RunError(msg) from None
        finally:
            self.logger.removeHandler(warnings)
        if failures:
            told = describe_failures(failures, len(selected))
            raise RunError(self._secret.redact(told))

    def _sync(self, stream: LeadIntentStream) -> str | None:
        """Sync a stream; give the reason if it failed."""
        try:
            stream.sync()
            stream.finalize_state_progress_markers()
        except SingerSDKError as error:
            return str(error)
        except OSError:
            raise
        except Exception as error:
            self.logger.exception("%s: this should not happen", stream.name)
            return f"{type(error).__name__}: {self._secret.summarize(error)}"
        return None

    @property
    def _own_streams(self) -> list[LeadIntentStream]:
        return cast("list[LeadIntentStream]", list(self.streams.values()))

    @cached_property
    def _interruption(self) -> Interruption:
        return Interruption()

    def _handle_termination(
        self,
        signum: int,
        frame: FrameType | None,  # noqa: ARG002
    ) -> None:
        # Private, for want of a public hook: the SDK's would write from inside the
        # handler, where a line may be half written, and exit with code 0.
        self._interruption.signal(signum)

    def _validate_config(self, *, raise_errors: bool = True) -> list[str]:
        # Private, for want of a public hook: the SDK does not validate `--discover`,
        # knows no cross-field rules, and quotes values, the key's among them.
        self.append_builtin_config(self.config_jsonschema)
        errors = settings.validate(
            self._config,
            self.config_jsonschema,
            complete=raise_errors,
        )
        if errors:
            raise ConfigError([self._secret.redact(error) for error in errors])
        secret.keep_out_of_logs(self._secret)
        for field in settings.undocumented_filters(self._config):
            self.logger.warning("filters.%s is passed on, though undocumented", field)
        return errors

    @cached_property
    def _secret(self) -> secret.Secret:
        key = self._config.get("api_key")
        return secret.Secret(key if isinstance(key, str) else "")

    @classmethod
    def get_singer_command(cls) -> click.Command:
        """Give the command line; its errors pass through the log, where no key does.

        Returns:
            The command.
        """
        command = cast("SingerCommand", super().get_singer_command())
        # The SDK sets this too, but too late for `--discover` and `--test`.
        sys.excepthook = command.excepthook
        return command

    @classmethod
    def cb_config(
        cls, ctx: click.Context, param: click.Option, value: tuple[str, ...]
    ) -> _ConfigInput:
        """Read the configuration files.

        Args:
            ctx: The command's context.
            param: The option `--config`.
            value: Paths, or "ENV".

        Returns:
            The settings of all; those of later files override earlier ones.
        """
        merged = super().cb_config(ctx, param, ())
        for path in value:
            if path == "ENV":
                merged.parse_env = True
            else:
                merged.config |= files.read_config(path)
        return merged

    @classmethod
    def invoke(
        cls,
        *,
        state: IO[str] | None = None,
        catalog: IO[str] | None = None,
        **options: Any,
    ) -> None:
        """Run the tap.

        Args:
            state: The state's file, if any.
            catalog: The catalog's file, if any.
            options: As for `Tap.invoke`.
        """
        super().invoke(
            state=files.checked("--state", state, files.StateFile),
            catalog=files.checked("--catalog", catalog, files.CatalogFile),
            **options,
        )


def _let_go_of_stdout() -> None:
    # What Python still holds for a broken pipe must not fail again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
