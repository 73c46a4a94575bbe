"""Reads and checks the files of the command line; the SDK does not check them."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from jsonschema import Draft202012Validator, SchemaError
from singer_sdk.singerlib import MetadataMapping

from tap_leadintent.config.suggestions import did_you_mean
from tap_leadintent.errors import ConfigError
from tap_leadintent.openapi import stream_names

if TYPE_CHECKING:
    from tap_leadintent.redaction import Secret

_FILE_NAME = re.compile(r"[\w ./~+-]*\.\w{1,5}")
"""Looks like the name of a file, and not like settings or a key."""

_MOST_LEVELS = 64
"""Levels of lists and objects. At twice as many, `jsonschema` fails with a column's
schema; fewer might refuse one."""

TOO_DEEP = "is nested too deeply"
"""What to say of a value that `is_deep`."""


def is_deep(value: object, levels: int = _MOST_LEVELS) -> bool:
    """Tell whether a value is nested too deeply to be worked with.

    Args:
        value: What JSON is made of.
        levels: How many levels of lists and objects it may have.

    Returns:
        Whether it has more.
    """
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return not levels or any(is_deep(each, levels - 1) for each in inner)


class StateFile(msgspec.Struct):
    """The form of a state, as far as the tap relies on it."""

    bookmarks: dict[str, dict[str, Any]] = {}
    singer_state: Any = None
    value: Any = None

    def __post_init__(self) -> None:  # noqa: D105 - called by msgspec
        # Without this error, the state would count as empty.
        for name in ("singer_state", "value"):
            if getattr(self, name):
                msg = f"give only the state, which is under the key {name}"
                raise ValueError(msg)
        for stream, state in self.bookmarks.items():
            if is_deep(state):
                msg = f"the state of {stream} {TOO_DEEP}"
                raise ValueError(msg)


class _Metadata(msgspec.Struct):
    breadcrumb: list[str]
    metadata: dict[str, Any]


class _Columns(msgspec.Struct):
    properties: dict[str, Any] = {}
    items: None = None
    """The SDK takes them for a schema; a record has none."""


class _Column(msgspec.Struct):
    """Where the SDK needs objects; other JSON schemas may be `true` or `false`."""

    properties: dict[str, _Column] = {}
    items: _Column | None = None
    any_of: list[_Column] = msgspec.field(name="anyOf", default_factory=list)


class _Entry(msgspec.Struct):
    tap_stream_id: str
    schema: _Columns = msgspec.field(default_factory=_Columns)
    metadata: list[_Metadata] = []
    key_properties: list[str] | None = None
    replication_key: str | None = None
    replication_method: str | None = None

    def __post_init__(self) -> None:
        # The SDK would ignore the entry, and so not read the stream that was meant.
        name, known = self.tap_stream_id, stream_names()
        if name not in known and self._is_selected:
            msg = f"{name}: there is no such stream{did_you_mean(name, known)}"
            raise ValueError(msg)
        for column, schema in self.schema.properties.items():
            if problem := _schema_problem(schema):
                msg = f"{name}: column {column}: its schema {problem}"
                raise ValueError(msg)

    @property
    def _is_selected(self) -> bool:
        metadata = MetadataMapping.from_iterable(msgspec.to_builtins(self.metadata))
        return metadata.resolve_selection()[()]


def _schema_problem(schema: Any) -> str:  # noqa: ANN401 - any JSON
    if is_deep(schema):
        return TOO_DEEP
    try:
        Draft202012Validator.check_schema(schema)
        msgspec.convert(schema, _Column)
    except (SchemaError, msgspec.ValidationError) as error:
        return f"is not a valid JSON schema ({_reason(error)})"
    return ""


class CatalogFile(msgspec.Struct):
    """The form of a catalog, as far as the tap relies on it."""

    streams: list[_Entry]


_CURES = {
    "--state": "give the value of the last STATE that the tap wrote, or leave --state "
    "out to read everything",
    "--catalog": "give what --discover prints, or leave --catalog out to read all "
    "streams",
}


def checked(
    option: str, path: str | None, form: type, secret: Secret
) -> io.StringIO | None:
    """Read a file whole and check its form.

    Args:
        option: The option that names the file.
        path: The file, which may be a pipe, or "-" for standard input; None without
            the option.
        form: The type that its JSON must decode to.
        secret: Hides the key.

    Returns:
        A new file with the same text.

    Raises:
        ConfigError: The file cannot be read, or does not have this form; the message
            says where.
    """
    if path is None:
        return None
    try:
        with click.open_file(path, encoding="utf-8") as file:
            text = file.read()
        if text.strip():
            content = msgspec.json.decode(text)
            msgspec.convert(content, form)
            if not is_deep(content, 2 * _MOST_LEVELS):
                return io.StringIO(text)
        error: Exception = ValueError(TOO_DEEP if text.strip() else "is empty")
    except (OSError, RecursionError, ValueError) as unreadable:
        error = unreadable
    line = problem(option, path, error, secret)
    # The message of a form says itself what to do.
    cure = "" if error.__cause__ else f"; {_CURES[option]}"
    raise ConfigError([f"{line}{cure}"])


def read_config(path: str, secret: Secret) -> dict[str, Any]:
    """Read a configuration file.

    Args:
        path: The file, which may be a pipe.
        secret: Hides the key, if it is known already.

    Returns:
        The settings.

    Raises:
        ConfigError: The file is not a JSON object; the message quotes no content. It
            does not quote `path` either unless that looks like one, because it may hold
            the settings themselves.
    """
    if not os.path.exists(path) and not _FILE_NAME.fullmatch(path):  # noqa: PTH110
        msg = (
            "--config: there is no such file; give the path of a JSON file, or ENV for "
            "environment variables, not the settings themselves (the value is not "
            "shown, as it may hold the key)"
        )
        raise ConfigError([msg])
    try:
        config = json.loads(Path(path).read_text(encoding="utf-8"))
        if isinstance(config, dict):
            return config
        error: Exception = ValueError("must be a JSON object of settings")
    except (OSError, RecursionError, ValueError) as unreadable:
        error = unreadable
    raise ConfigError([problem("--config", path, error, secret)]) from None


def problem(option: str, path: str, error: Exception, secret: Secret) -> str:
    """Explain why a file cannot be used.

    Args:
        option: The option that names the file.
        path: The file.
        error: The error of reading it.
        secret: Hides the key.

    Returns:
        One line.
    """
    return f"{option}: {secret.summarize(path)}: {secret.summarize(_reason(error))}"


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    return getattr(error, "strerror", None) or str(error).partition("\n")[0]
