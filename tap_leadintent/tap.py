"""The tap: settings, streams, and how a run is entered."""

from __future__ import annotations

import logging
import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING, cast

from singer_sdk import Tap

from tap_leadintent import inference, settings, validation
from tap_leadintent.errors import ConfigError, RunError, StreamError
from tap_leadintent.interruption import Interruption
from tap_leadintent.openapi import is_documented
from tap_leadintent.pacing import Pace
from tap_leadintent.secret import RedactingFilter, Secret
from tap_leadintent.streams import STREAMS
from tap_leadintent.summary import WarningCounter, describe, describe_failures
from tap_leadintent.writer import Writer

if TYPE_CHECKING:
    from types import FrameType

    from tap_leadintent.replication import LeadIntentStream


class TapLeadIntent(Tap):
    """Singer tap for the buying-intent leads and monitored accounts API."""

    name = "tap-leadintent"
    config_jsonschema = settings.SCHEMA
    message_writer_class = Writer

    def discover_streams(self) -> list[LeadIntentStream]:
        """Give the streams, the same for every key unless `infer_columns` is set.

        Returns:
            One stream for each endpoint.
        """
        limit = self.config.get("max_requests_per_minute")
        pace = Pace(self._interruption, limit)
        streams = [stream(self, pace=pace) for stream in STREAMS]
        if self._infers_columns:
            for stream in streams:
                if not is_documented(stream.name):
                    inference.add_columns(stream)
        return streams

    @property
    def _infers_columns(self) -> bool:
        # With a catalog nothing is left to infer, without a key nothing can be read.
        return (
            self.input_catalog is None
            and bool(self.config.get("infer_columns"))
            and {"base_url", "api_key"} <= self.config.keys()
        )

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
            if self.state:
                self.state_writer.write_state(self.state)
            for stream in selected:
                began = stream.newest_covered
                try:
                    stream.sync()
                    stream.finalize_state_progress_markers()
                except StreamError as error:
                    failures[stream.name] = error.message
                self.logger.info(describe(stream, began, warnings))
            sys.stdout.flush()
        except SystemExit:
            self.state_writer.write_state(self.state)
            sys.stdout.flush()
            raise
        except BrokenPipeError:
            # What Python still holds for the pipe must not fail again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            msg = "the target stopped reading; its own log says why"
            raise RunError(msg) from None
        finally:
            self.logger.removeHandler(warnings)
        if failures:
            raise RunError(describe_failures(failures, len(selected)))

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
        errors = validation.validate(
            self._config,
            self.config_jsonschema,
            complete=raise_errors,
        )
        if errors:
            raise ConfigError(errors)
        self._keep_key_out_of_logs()
        for field in validation.undocumented_filters(self._config):
            self.logger.warning("filters.%s is passed on, though undocumented", field)
        return errors

    def _keep_key_out_of_logs(self) -> None:
        redacting = RedactingFilter(Secret(self._config.get("api_key", "")))
        for handler in logging.getLogger().handlers:
            handler.addFilter(redacting)
