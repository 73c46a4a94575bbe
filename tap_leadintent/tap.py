"""The tap: settings, streams, and how a run is entered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from singer_sdk import Tap
from singer_sdk.contrib.msgspec import MsgSpecWriter

from tap_leadintent import settings
from tap_leadintent.errors import ConfigError
from tap_leadintent.streams import STREAMS

if TYPE_CHECKING:
    from tap_leadintent.client import LeadIntentStream


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
        return [stream(self) for stream in STREAMS]

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
