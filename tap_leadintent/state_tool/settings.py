"""Reads the tap's settings; `api_key` may be absent."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from singer_sdk import Tap

from tap_leadintent.config.files import read_config
from tap_leadintent.config.settings import SCHEMA
from tap_leadintent.config.validation import validate
from tap_leadintent.errors import ConfigError
from tap_leadintent.redaction import Secret
from tap_leadintent.replication.source import normalised
from tap_leadintent.state_tool.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_settings(path: str) -> dict[str, Any]:
    """Read a configuration file.

    Args:
        path: The file.

    Returns:
        Valid settings with their defaults; `api_key` may be absent.

    Raises:
        StateError: They cannot work.
    """
    try:
        config = read_config(path, Secret(None))
    except ConfigError as error:
        msg = "; ".join(error.errors)
        raise StateError(msg) from None
    secret = Secret(config.get("api_key"))
    if problems := _problems(config, required=["base_url"]):
        msg = f"--config: {'; '.join(problems)}"
        raise StateError(msg, secret)
    return config


def lookback(config: Mapping[str, Any]) -> int:
    """Give the setting `lookback_minutes`.

    Args:
        config: Settings, of which any may be absent.

    Returns:
        Its length in seconds; that of the default if it is absent.
    """
    default = SCHEMA["properties"]["lookback_minutes"]["default"]
    return int(config.get("lookback_minutes", default)) * 60


def address(option: str, url: str) -> str:
    """Read an option that takes what `base_url` does.

    Args:
        option: The option.
        url: Its value.

    Returns:
        The address, normalised.

    Raises:
        StateError: It cannot be a `base_url`.
    """
    for problem in _problems({"base_url": url}, required=[]):
        msg = problem.replace("base_url", option, 1)
        raise StateError(msg)
    return normalised(url)


def _problems(config: dict[str, Any], required: list[str]) -> list[str]:
    schema = deepcopy(SCHEMA)
    Tap.append_builtin_config(schema)
    return validate(config, {**schema, "required": required}, complete=True)
