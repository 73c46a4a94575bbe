"""Reads the files of the command line and the environment, and checks their form.

The SDK's own functions keep some types of environment variables as text, and end with a
traceback if a file has another form.
"""

import logging
import os
from collections.abc import Mapping
from configparser import ConfigParser
from contextlib import suppress
from typing import Any

import click
import msgspec
from dotenv import find_dotenv, load_dotenv
from jsonschema import Draft202012Validator, SchemaError

from tap_leadintent.singer.errors import ConfigError
from tap_leadintent.singer.log import summarize

STATE = "a state"
MELTANO_STATE = "the output of `meltano state get`"
_CATALOG, _SETTINGS = "a catalog", "a file of settings"
_KINDS = {
    "streams": _CATALOG,
    "type": "a complete Singer message",
    "singer_state": MELTANO_STATE,
    "bookmarks": STATE,
}
"""What a JSON object with a key is, in case one file is given in place of another."""

_BOOLEANS = ConfigParser.BOOLEAN_STATES


class StateFile(msgspec.Struct):
    """The form of a state, as far as the tap relies on it."""

    bookmarks: dict[str, dict[str, Any]] = {}


class _Metadata(msgspec.Struct):
    breadcrumb: list[str]
    metadata: dict[str, Any]


class _Entry(msgspec.Struct):
    tap_stream_id: str
    schema: dict[str, Any] = {}
    metadata: list[_Metadata] = []
    key_properties: list[str] | None = None
    replication_key: str | None = None
    replication_method: str | None = None


class _CatalogFile(msgspec.Struct):
    streams: list[_Entry]


def read_config(path: str) -> dict[str, Any]:
    """Read a configuration file.

    Args:
        path: The file, which may be a pipe, or "-" for standard input.

    Returns:
        The settings.

    Raises:
        ConfigError: The file is not a JSON object of settings. The message does not
            quote its content. It quotes only a path that ends with `.json`, because the
            key may stand in place of the path.
    """
    hint = "give a JSON file of settings, or ENV for environment variables"
    name = path if path.endswith(".json") else ""
    return _read(f"--config {name}", path, _SETTINGS, dict[str, Any], hint)


def read_state(path: str) -> dict[str, Any]:
    """Read a state file.

    Args:
        path: The file; see `read_config`.

    Returns:
        The state.

    Raises:
        ConfigError: The file is not a state.
    """
    hint = "give the value of the tap's last STATE, or no state to read everything"
    return _read(f"--state {path}", path, STATE, StateFile, hint)


def read_catalog(path: str) -> dict[str, Any]:
    """Read a catalog file.

    Args:
        path: The file; see `read_config`.

    Returns:
        The catalog.

    Raises:
        ConfigError: The file is not a catalog, or the schema of a column is not valid.
    """
    hint = "give what --discover prints, or no catalog to read everything"
    catalog = _read(f"--catalog {path}", path, _CATALOG, _CatalogFile, hint)
    for entry in catalog["streams"]:
        try:
            Draft202012Validator.check_schema(entry.get("schema", {}))
        except SchemaError as error:
            problem = f"{entry['tap_stream_id']}: {error.json_path}: {error.message}"
            raise ConfigError(summarize(f"--catalog: {problem}")) from None
        for part in entry.get("metadata", []):
            # The SDK reads the entry's own method only, which Meltano sets as well.
            method = part["metadata"].get("replication-method")
            if method and not part["breadcrumb"]:
                entry["replication_method"] = method
    return catalog


def _read(option: str, path: str, kind: str, form: type, hint: str) -> dict[str, Any]:
    try:
        content = read_json(path, kind)
        msgspec.convert(content, form)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{summarize(option)}: {reason}; {hint}") from None
    return content


def read_json(path: str, *kinds: str) -> dict[str, Any]:
    """Read a JSON object from a file.

    Args:
        path: The file, which may be a pipe, or "-" for standard input.
        kinds: What the object may be, such as `STATE`.

    Returns:
        The object.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is empty, no JSON object, or one of another kind.
    """
    with click.open_file(path, encoding="utf-8") as file:
        text = file.read()
    if not text.strip():
        raise ValueError("it is empty")
    content = msgspec.json.decode(text, type=dict[str, Any])
    found = [kind for key, kind in _KINDS.items() if key in content]
    if found and found[0] not in kinds:
        raise ValueError(f"it is {found[0]}, not {kinds[0]}")
    if STATE in kinds and content and not found:
        raise ValueError("it has no bookmarks, so it is not a state")
    return content


def read_environment(tap: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read the settings that are set in the environment, or in a `.env` file.

    The file is looked for in the working folder and its parents; environment variables
    override it. Strings are taken as they are, booleans may be `true`, `1`, `yes` and
    the like, and other types are JSON. An empty variable counts as unset.

    Args:
        tap: The tap's name. Those of its variables begin with it, such as
            `TAP_EXAMPLE_START_DATE`.
        schema: JSON schema of all settings.

    Returns:
        The settings. What cannot be decoded stays a text, which the validation refuses.
    """
    try:
        load_dotenv(find_dotenv(usecwd=True))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        logging.getLogger(tap).warning(".env cannot be read: %s", reason)
    prefix = tap.replace("-", "_")
    config: dict[str, Any] = {}
    for name, setting in schema["properties"].items():
        if not (text := os.environ.get(f"{prefix}_{name}".upper())):
            continue
        config[name] = text
        if "boolean" in setting["type"] and text.lower() in _BOOLEANS:
            config[name] = _BOOLEANS[text.lower()]
        elif "string" not in setting["type"]:
            with suppress(ValueError):
                config[name] = msgspec.json.decode(text)
    return config
