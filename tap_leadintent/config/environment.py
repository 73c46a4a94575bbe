"""Reads the settings from environment variables, by the settings' schema."""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING, Any

from dotenv import find_dotenv, load_dotenv

from tap_leadintent.config.files import problem
from tap_leadintent.config.suggestions import did_you_mean
from tap_leadintent.errors import ConfigError
from tap_leadintent.redaction import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

_BOOLEANS = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


def read_config(
    schema: Mapping[str, Any], prefix: str, logger: logging.Logger
) -> dict[str, Any]:
    """Read the settings that are set in the environment, or in a `.env` file.

    The file is looked for in the working folder and its parents; environment variables
    override it. Strings are taken as they are, booleans may be `true`, `1`, `yes` and
    the like, and other types are JSON. An empty variable is ignored.

    Args:
        schema: JSON schema of all settings.
        prefix: Prefix of the variables' names.
        logger: Gets a warning for each variable whose name is like a setting's.

    Returns:
        The settings. A text that cannot be decoded stays a text, which the validation
        refuses later.

    Raises:
        ConfigError: The text of an object is not JSON, or the `.env` file cannot be
            read; the message quotes no content.
    """
    _load_dotenv(secret(prefix, {}))
    settings = schema["properties"]
    config: dict[str, Any] = {}
    errors = []
    for variable, text in sorted(os.environ.items()):
        if not variable.startswith(prefix) or not text:
            continue
        name = variable.removeprefix(prefix).lower()
        if name in settings:
            try:
                config[name] = _decoded(text, settings[name]["type"])
            except (RecursionError, ValueError) as error:
                errors.append(f"{name}: is not valid JSON: {error}")
        elif hint := did_you_mean(name, settings):
            logger.warning("%s is ignored: there is no such setting%s", variable, hint)
    if errors:
        raise ConfigError(errors)
    return config


def secret(prefix: str, config: Mapping[str, Any]) -> Secret:
    """Find the key before the settings are merged, to redact earlier messages.

    Args:
        prefix: Prefix of the variables' names.
        config: The settings that are known already.

    Returns:
        The key, of `config` or of the environment, if it is set.
    """
    return Secret(config.get("api_key") or os.environ.get(f"{prefix}API_KEY"))


def log_level_problem(prefix: str) -> str:
    """Check the log level, which only the environment can set.

    An unknown or empty level is removed from the environment: with it, the SDK could
    not log at all.

    Args:
        prefix: Prefix of the variables' names.

    Returns:
        A line if the level is unknown, else an empty text.
    """
    variables = (f"{prefix}LOGLEVEL", "LOGLEVEL")
    levels = {name: text for name in variables if (text := os.environ.get(name))}
    variable, level = next(iter(levels.items()), ("", ""))
    if level.upper() in logging.getLevelNamesMapping():
        return ""
    for name in variables:
        os.environ.pop(name, None)
    return level and (
        f"{variable}: there is no log level {level!r}; choose one of DEBUG, INFO, "
        "WARNING, ERROR, CRITICAL"
    )


def _load_dotenv(key: Secret) -> None:
    path = find_dotenv(usecwd=True)
    try:
        load_dotenv(path)
    except (OSError, ValueError) as error:
        raise ConfigError([problem("--config", path, error, key)]) from None


def _decoded(text: str, types: list[str]) -> Any:  # noqa: ANN401 - any JSON
    if "string" in types:
        return text
    if "boolean" in types and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    try:
        return json.loads(text)
    except (RecursionError, ValueError):
        if "object" in types:
            raise
        return text
