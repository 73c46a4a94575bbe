"""Reads the settings, and checks the files of the command line; the SDK does not."""

from __future__ import annotations

import io
import json
import logging
import os
from typing import TYPE_CHECKING, Any

import click
import msgspec
from dotenv import find_dotenv, load_dotenv
from jsonschema import Draft202012Validator, SchemaError
from singer_sdk.singerlib import MetadataMapping

from tap_leadintent.config.names import did_you_mean, unknown
from tap_leadintent.errors import ConfigError
from tap_leadintent.log import Secret
from tap_leadintent.openapi import stream_names

if TYPE_CHECKING:
    from collections.abc import Mapping

_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True}
_BOOLEANS |= {"false": False, "0": False, "no": False, "off": False}
_UNREADABLE = (OSError, RecursionError, ValueError)
_CURES = {
    "--config": "give a JSON file of settings, or ENV for environment variables",
    "--state": "give the value of the tap's last STATE, or none to read all",
    "--catalog": "give what --discover prints, or none to read all",
}


class StateFile(msgspec.Struct):
    """The form of a state, as far as the tap relies on it."""

    bookmarks: dict[str, dict[str, Any]] = {}
    singer_state: Any = None
    value: Any = None

    def __post_init__(self) -> None:  # noqa: D105 - called by msgspec
        # Without this error, the state would count as empty.
        if name := (self.singer_state and "singer_state") or (self.value and "value"):
            msg = f"give only the state, which is under the key {name}"
            raise ValueError(msg)


class _Metadata(msgspec.Struct):
    breadcrumb: list[str]
    metadata: dict[str, Any]


class _Entry(msgspec.Struct):
    tap_stream_id: str
    schema: dict[str, Any] = {}
    metadata: list[_Metadata] = []

    def __post_init__(self) -> None:
        metadata = MetadataMapping.from_iterable(msgspec.to_builtins(self.metadata))
        # The SDK would ignore the entry, and so not read the stream that was meant.
        if metadata.resolve_selection()[()]:
            for problem in unknown([self.tap_stream_id], stream_names(), "stream"):
                raise ValueError(problem)
        try:
            Draft202012Validator.check_schema(self.schema)
        except SchemaError as error:
            place = ".".join(map(str, error.absolute_path))
            msg = f"{self.tap_stream_id}: schema.{place}: {error.message}"
            raise ValueError(msg) from None


class CatalogFile(msgspec.Struct):
    """The form of a catalog, as far as the tap relies on it."""

    streams: list[_Entry]


def checked(option: str, path: str | None, form: type) -> io.StringIO | None:
    """Read a file whole and check its form.

    Args:
        option: The option that names the file.
        path: The file, which may be a pipe, or "-" for standard input; None without
            the option.
        form: The type that its JSON must decode to.

    Returns:
        A new file with the same text.

    Raises:
        ConfigError: The file cannot be read, or does not have this form; the message
            says where. It does not quote `path`, in whose place the key may stand.
    """
    if path is None:
        return None
    try:
        with click.open_file(path, encoding="utf-8") as file:
            text = file.read()
        msgspec.json.decode(text, type=form)
    except _UNREADABLE as error:
        why = Secret(None).summarize(_reason(error))
        raise ConfigError([f"{option}: {why}; {_CURES[option]}"]) from None
    return io.StringIO(text)


def read_config(path: str) -> dict[str, Any]:
    """Read a configuration file.

    Args:
        path: The file; see `checked`.

    Returns:
        The settings.

    Raises:
        ConfigError: The file is not a JSON object; the message quotes no content.
    """
    file = checked("--config", path, dict)
    settings: dict[str, Any] = json.load(file) if file else {}
    return settings


def read_environment(
    schema: Mapping[str, Any], prefix: str, logger: logging.Logger
) -> dict[str, Any]:
    """Read the settings that are set in the environment, or in a `.env` file.

    The file is looked for in the working folder and its parents; environment variables
    override it. Strings are taken as they are, booleans may be `true`, `1`, `yes` and
    the like, and other types are JSON. An empty variable counts as unset.

    Args:
        schema: JSON schema of all settings.
        prefix: Prefix of the variables' names.
        logger: Gets a warning for each variable whose name is like a setting's.

    Returns:
        The settings. What cannot be decoded stays a text, which the validation refuses.

    Raises:
        ConfigError: The `.env` file cannot be read.
    """
    try:
        load_dotenv(find_dotenv(usecwd=True))
    except _UNREADABLE as error:
        raise ConfigError([f".env: {_reason(error)}"]) from None
    config = {}
    for variable, text in sorted(os.environ.items()):
        name = variable.removeprefix(prefix).lower()
        if not variable.startswith(prefix) or not text:
            continue
        if setting := schema["properties"].get(name):
            config[name] = _decoded(text, setting["type"])
        elif hint := did_you_mean(name, schema["properties"]):
            logger.warning("%s is ignored: there is no such setting%s", variable, hint)
    return config


def _decoded(text: str, types: list[str]) -> Any:  # noqa: ANN401 - any JSON
    if "boolean" in types and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    try:
        return text if "string" in types else msgspec.json.decode(text)
    except _UNREADABLE:
        return text


def log_level_problem(prefix: str) -> str:
    """Check the log level, which only the environment can set.

    It becomes INFO if it is unset, or unknown, with which the SDK could not log at all.

    Args:
        prefix: Prefix of the variables' names.

    Returns:
        A line if the level is unknown, else an empty text.
    """
    name = f"{prefix}LOGLEVEL"
    level = os.environ.get(name) or os.environ.get("LOGLEVEL") or "INFO"
    is_known = level.upper() in logging.getLevelNamesMapping()
    os.environ[name] = level if is_known else "INFO"
    return "" if is_known else f"{name}: there is no log level {level!r}; choose INFO"


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error).partition("\n")[0]
