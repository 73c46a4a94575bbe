"""Reads the files of the command line and the environment, and checks their form.

The SDK's own functions keep some types of environment variables as text, and end with a
traceback if a file has another form.
"""

import logging
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec
import msgspec.yaml
from dotenv import find_dotenv, load_dotenv
from jsonschema import Draft202012Validator, SchemaError
from singer_sdk.singerlib import Catalog

from tap_leadintent.singer.errors import ConfigError
from tap_leadintent.singer.log import summarize

Json = dict[str, Any]
"""A JSON object."""

_MAX_DEPTH = 100
"""Levels of objects and lists in a file. With more, Python's functions that copy and
compare values could fail. No state and no catalog of the tap has ten."""

_REFERENCE = re.compile(r"\$\{?(\w+)\}?")
"""A value that is taken from an environment variable, as Meltano writes it."""


class _Extractor(msgspec.Struct):
    name: str
    config: Json = {}


class _Plugins(msgspec.Struct):
    extractors: list[_Extractor] = []

    def values_of(self, setting: str) -> list[Any]:
        """Return the values that these plugins give a setting of the running tap."""
        name = os.environ.get("MELTANO_EXTRACTOR_NAME")
        configs = [each.config for each in self.extractors if each.name == name]
        return [config[setting] for config in configs if setting in config]


class _EnvironmentConfig(msgspec.Struct):
    plugins: _Plugins = msgspec.field(default_factory=_Plugins)


class _Environment(msgspec.Struct):
    name: str
    config: _EnvironmentConfig = msgspec.field(default_factory=_EnvironmentConfig)


class _Project(msgspec.Struct):
    """The part of `meltano.yml` that says where a setting comes from."""

    plugins: _Plugins = msgspec.field(default_factory=_Plugins)
    environments: list[_Environment] = []


def read_config(path: str) -> Json:
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
    return _read(f"--config {name}", path, dict, hint)


def read_state(path: str) -> Json:
    """Read a state file.

    Args:
        path: The file; see `read_config`.

    Returns:
        The state.

    Raises:
        ConfigError: The file is not a state.
    """
    hint = "give the value of the tap's last STATE, or no state to read everything"
    return _read(f"--state {path}", path, bookmarks_of, hint)


def read_catalog(path: str) -> Json:
    """Read a catalog file.

    Args:
        path: The file; see `read_config`.

    Returns:
        The catalog.

    Raises:
        ConfigError: The file is not a catalog, or the schema of a column is not valid.
    """
    hint = "give what --discover prints, or no catalog to read everything"
    catalog = _read(
        f"--catalog {path}",
        path,
        _check_catalog,
        hint,
    )
    for entry in catalog["streams"]:
        for part in entry.get("metadata", []):
            # The SDK reads the entry's own method only, which Meltano sets as well.
            method = part["metadata"].get("replication-method")
            if method and not part["breadcrumb"]:
                entry["replication_method"] = method
    return catalog


def _check_catalog(content: Json) -> None:
    try:
        for entry in content["streams"]:
            Draft202012Validator.check_schema(entry.get("schema", {}))
        Catalog.from_dict(content)
    except SchemaError as error:
        place = f"{entry['tap_stream_id']}: {error.json_path}"
        raise ValueError(f"{place}: {error.message}") from None
    except Exception as error:  # noqa: BLE001 - the SDK checks nothing
        raise ValueError(f"it is not a catalog ({type(error).__name__})") from None


def bookmarks_of(state: Json) -> dict[str, Json]:
    """Return the state of each stream.

    Args:
        state: The content of a file.

    Returns:
        The states by the names of the streams; none if the state is empty.

    Raises:
        ValueError: It is not a state.
    """
    if state and "bookmarks" not in state:
        raise ValueError("it has no bookmarks, so it is not a state")
    bookmarks = state.get("bookmarks", {})
    return msgspec.convert(bookmarks, dict[str, Json])


def _read(
    option: str,
    path: str,
    check: Callable[[Json], object],
    hint: str,
) -> Json:
    try:
        content = read_json(path)
        check(content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        problem = f"{summarize(option)}: {summarize(reason)}"
        raise ConfigError(f"{problem}; {hint}") from None
    return content


def read_json(path: str) -> Json:
    """Read a JSON object from a file.

    Args:
        path: The file, which may be a pipe, or "-" for standard input.

    Returns:
        The object.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a JSON object.
    """
    with click.open_file(path, encoding="utf-8") as file:
        text = file.read().strip()
    if not text:
        raise ValueError("it is empty")
    try:
        content = msgspec.json.decode(text, type=Json)
        is_too_deep = _is_too_deep(content)
    except RecursionError:
        is_too_deep = True
    if is_too_deep:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
    return content


def _is_too_deep(content: Json) -> bool:
    level: list[Any] = [content]
    for _ in range(_MAX_DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += value.values()
            elif isinstance(value, list):
                below += value
        level = below
    return bool(level)


def variable_of(tap: str, setting: str) -> str:
    """Return the environment variable of a setting, such as `TAP_EXAMPLE_START_DATE`.

    Args:
        tap: The tap's name.
        setting: The setting's name.
    """
    return f"{tap}_{setting}".replace("-", "_").upper()


def find_variable_in_project(setting: str) -> str:
    """Return the environment variable that a Meltano project takes a setting from.

    Meltano passes on only values, so a variable that is not set looks like a setting
    that nobody has made. The variables that Meltano sets name the project, its
    environment and the extractor.

    Args:
        setting: The setting's name.

    Returns:
        The name of the variable, or an empty text if `meltano.yml` refers to none.
    """
    project = _read_project()
    values: list[Any] = []
    for environment in project.environments:
        if environment.name == os.environ.get("MELTANO_ENVIRONMENT"):
            values += environment.config.plugins.values_of(setting)
    values += project.plugins.values_of(setting)
    for value in values:
        reference = _REFERENCE.fullmatch(str(value))
        if reference:
            return reference[1]
    return ""


def find_environments_in_project(setting: str) -> list[str]:
    """Return the environments of a Meltano project that have a value of a setting.

    Some commands of Meltano, such as `meltano config test`, do not use the project's
    default environment.

    Args:
        setting: The setting's name.

    Returns:
        The names of the environments; none if one is active, or outside of Meltano.
    """
    if os.environ.get("MELTANO_ENVIRONMENT"):
        return []
    return [
        environment.name
        for environment in _read_project().environments
        if environment.config.plugins.values_of(setting)
    ]


def _read_project() -> _Project:
    """Read `meltano.yml`; an unreadable one, or none, is an empty project."""
    root = os.environ.get("MELTANO_PROJECT_ROOT")
    if not root:
        return _Project()
    try:
        text = Path(root, "meltano.yml").read_bytes()
        return msgspec.yaml.decode(text, type=_Project)
    except (OSError, msgspec.MsgspecError):
        return _Project()


def read_environment(
    tap: str,
    schema: Mapping[str, Any],
) -> Json:
    """Read the settings that are set in the environment, or in a `.env` file.

    The file is looked for in the working folder and its parents; environment variables
    override it. Strings are taken as they are, and other types are JSON. An empty
    variable counts as unset.

    Args:
        tap: The tap's name.
        schema: JSON schema of all settings.

    Returns:
        The settings. What cannot be decoded stays a text, which the validation refuses.
    """
    try:
        load_dotenv(find_dotenv(usecwd=True))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        logging.getLogger(tap).warning(".env cannot be read: %s", reason)
    config: Json = {}
    for name, setting in schema["properties"].items():
        variable = variable_of(tap, name)
        text = os.environ.get(variable)
        if not text:
            continue
        config[name] = text
        if "string" not in setting["type"]:
            with suppress(ValueError, RecursionError):
                config[name] = msgspec.json.decode(text)
    return config
