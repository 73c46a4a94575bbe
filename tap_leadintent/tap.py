"""The tap: settings, streams, and how a run is entered."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, cast

from singer_sdk import Tap
from singer_sdk.contrib.msgspec import MsgSpecWriter

from tap_leadintent import settings
from tap_leadintent.errors import ConfigError
from tap_leadintent.interruption import Interruption
from tap_leadintent.streams import STREAMS

if TYPE_CHECKING:
    from types import FrameType

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
        return [stream(self, interruption=self._interruption) for stream in STREAMS]

    def sync_all(self) -> None:  # type: ignore[misc]
        """Sync the selected streams, and end on a signal where nothing is half done.

        Overrides what the SDK calls final, for want of a hook around a whole run.

        Raises:
            SystemExit: A signal came; the last true state has been written.
        """
        for stream in self.streams.values():
            if stream.selected:
                cast("LeadIntentStream", stream).begin_state()
        try:
            super().sync_all()
        except SystemExit:
            self.state_writer.write_state(self.state)
            raise
        finally:
            sys.stdout.flush()

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
            raise ConfigError(errors)
        for field in settings.undocumented_filters(self._config):
            self.logger.warning("filters.%s is passed on, though undocumented", field)
        return errors
