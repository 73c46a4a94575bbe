"""Reads the settings of the tap for commands that do not create one."""

from collections.abc import Mapping, Sequence
from typing import Any

from tap_leadintent.config.settings import SCHEMA
from tap_leadintent.config.validation import CHECKS
from tap_leadintent.errors import TAP_NAME
from tap_leadintent.singer.checks import find_problems
from tap_leadintent.singer.errors import ConfigError
from tap_leadintent.singer.files import read_config, read_environment
from tap_leadintent.singer.log import hide

SCHEMA_WITH_MAPS: dict[str, Any] = {
    "properties": {
        **SCHEMA["properties"],
        "stream_maps": {"type": ["object", "null"]},
    },
}
"""The tap's settings, and `stream_maps` of the SDK, which may filter records."""


def valid_settings(
    config: str,
    names: Sequence[str],
    required: Sequence[str] = (),
) -> dict[str, Any]:
    """Read some of the settings, and check them in the same way as the tap.

    Args:
        config: The file, or `ENV`.
        names: The settings that are read.
        required: Those that must be set.

    Returns:
        The settings, with their defaults.

    Raises:
        ConfigError: The file cannot be read, or a setting is not valid.
    """
    schema = {
        "properties": {name: SCHEMA_WITH_MAPS["properties"][name] for name in names},
        "required": required,
    }
    settings = read_settings(config, SCHEMA_WITH_MAPS)
    hide(settings.get("api_key"))
    for name in settings.keys() - set(names):
        del settings[name]
    problems = find_problems(
        settings,
        schema,
        TAP_NAME,
        complete=True,
        checks=CHECKS,
    )
    if problems:
        hint = "correct the file that --config names"
        if config == "ENV":
            hint = (
                "give a file with --config, or set TAP_LEADINTENT_…, or use "
                "`meltano invoke tap-leadintent:state`"
            )
        raise ConfigError(f"{'; '.join(problems)}; {hint}")
    return settings


def read_settings(
    config: str,
    schema: Mapping[str, Any] = SCHEMA,
) -> dict[str, Any]:
    """Read the settings of a file, or of the environment that Meltano has set.

    Args:
        config: The file, or `ENV`.
        schema: JSON schema of the settings that are read from the environment.

    Raises:
        ConfigError: The file cannot be read.
    """
    if config != "ENV":
        return read_config(config)
    settings = read_environment(TAP_NAME, schema)
    for name in settings.keys() & {"filters", "stream_maps"}:
        settings[name] = _unflatten(settings[name])
    return settings


def _unflatten(setting: Any) -> Any:  # noqa: ANN401 - any JSON
    """Restore an object that Meltano has written as `{"leads.sheet_ids": […]}`."""
    if not isinstance(setting, dict):
        return setting
    nested: dict[str, Any] = {}
    for path, value in setting.items():
        stream, _, field = path.partition(".")
        if field:
            fields = nested.get(stream, {})
            nested[stream] = {**fields, field: value}
        else:
            nested[stream] = value
    return nested
