"""Checks settings and catalogs, and suggests names for misspelled ones."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from singer_sdk import Stream
from singer_sdk.singerlib import Catalog
from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL

from tap_leadintent.singer.files import (
    find_environments_in_project,
    find_variable_in_project,
    variable_of,
)

Check = Callable[[Mapping[str, Any]], Iterable[str]]
"""Returns a line for each problem of the settings, which begins with the setting's
name."""

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")

_TYPES = {
    "object": "an object, as JSON",
    "array": 'a list, as JSON, such as ["a", "b"]',
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a text",
}
"""How messages call the types of JSON schemas."""

_TEXTS = {
    "type": "is not {limit}",
    "enum": "is not one of {limit}",
    "minimum": "is too small; the least is {limit}",
    "maximum": "is too large; the most is {limit}",
    "exclusiveMinimum": "is too small; it must be more than {limit}",
}
"""What a message says about a value, by the keyword of the schema that it violates."""

_METHODS = (REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest a known name, as the end of a message about an unknown one.

    Args:
        name: The unknown name.
        known: The known names.

    Returns:
        A clause with the nearest known name, empty if none is near.
    """
    # Some warehouses show names in upper case, so people copy them like that.
    near = get_close_matches(
        name.lower(),
        list(known),
        n=1,
        cutoff=0.75,
    )
    if not near:
        return ""
    return f"; did you mean {near[0]}?"


def find_unknown_names(
    names: Iterable[str],
    known: Collection[str],
    what: str,
) -> Iterator[str]:
    """Find the names that are not known.

    Args:
        names: Names, as given.
        known: All names that there are.
        what: What they are names of.

    Yields:
        A line for each unknown name, which begins with it.
    """
    for name in names:
        if name not in known:
            yield f"{name}: there is no such {what}{did_you_mean(name, known)}"


def find_problems(
    config: dict[str, Any],
    schema: Mapping[str, Any],
    tap: str,
    *,
    complete: bool,
    checks: Iterable[Check] = (),
) -> list[str]:
    """Check a configuration and fill in the defaults.

    Args:
        config: The settings as given; defaults are added to it, nulls are removed,
            texts become numbers, and whole numbers integers.
        schema: JSON schema of all settings, the SDK's own among them.
        tap: The tap's name, also that of its package, whose extras install what some
            settings need.
        complete: Whether the required settings must be set.
        checks: Find problems that the schema cannot, in the settings that it allows.

    Returns:
        A text for each problem, beginning with the setting's name. It may quote the
        value of any setting, at any length, unless that is secret.
    """
    # The SDK's own schema of `stream_maps` is not valid.
    known = {**schema["properties"], "stream_maps": {"type": "object"}}
    _normalize(config, known)
    # A problem of its own says what to do about this setting of the SDK.
    others = [name for name in config if name != "batch_config"]
    problems = list(find_unknown_names(others, known, "setting"))
    required = schema.get("required", []) if complete else []
    for name in required:
        if name not in config:
            problem = _unset(name, known[name], tap)
            problems.append(problem)
    validator = Draft202012Validator({"properties": known})
    for error in validator.iter_errors(config):
        problems += describe_error(error)
    valid = dict(config)
    for problem in problems:
        path, _, _ = problem.partition(":")
        name, _, _ = path.partition(".")
        valid.pop(name, None)
    for check in checks:
        problems += check(valid)
    problems += _sdk_problems(valid, tap)
    return problems


def _normalize(
    config: dict[str, Any],
    known: Mapping[str, Any],
) -> None:
    """Add the defaults, make numbers of texts where one is wanted, and remove nulls."""
    for name, setting in known.items():
        value = config.get(name)
        is_number = not {"integer", "number"}.isdisjoint(setting["type"])
        if is_number and isinstance(value, str) and _NUMBER.fullmatch(value):
            # Meltano has no kind for fractions, so they are texts there.
            value = float(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            value = setting.get("default")
        config[name] = value
    for name, value in list(config.items()):
        if value is None:
            del config[name]


def _unset(
    name: str,
    setting: Mapping[str, Any],
    tap: str,
) -> str:
    """Say how to set a setting that is required."""
    about = setting["description"].rstrip(".")
    variable = find_variable_in_project(name)
    environments = find_environments_in_project(name)
    if variable:
        advice = f"set the environment variable {variable}, which meltano.yml refers to"
    elif environments:
        option = f"--environment={environments[0]}"
        names = ", ".join(environments)
        advice = (
            f"type meltano {option} …, as meltano.yml sets it only for environments "
            f"({names}), and this command uses none"
        )
    else:
        (example,) = setting.get("examples") or ["…"]
        command = f"meltano config set {tap} {name} '{example}'"
        variable = variable_of(tap, name)
        advice = f"{command}, or {variable} with --config ENV, or a file with --config"
    return f"{name}: is not set; {advice} ({about})"


def describe_error(error: ValidationError) -> Iterator[str]:
    """Say what is wrong with a value, and name a right one.

    Args:
        error: What a validator of JSON schemas has found.

    Yields:
        A line for each problem, which begins with the path of the value. Secrets and
        objects, which may hold some, are not quoted.
    """
    schema: Any = error.schema
    value: Any = error.instance
    limit: Any = error.validator_value
    path = ".".join(map(str, error.absolute_path))
    match error.validator:
        case "additionalProperties":
            known = schema["properties"]
            for problem in find_unknown_names(value, known, "setting"):
                yield f"{path}.{problem}"
            return
        case "required":
            for name in {*schema["required"]} - value.keys():
                example = _such_as(schema["properties"][name])
                yield f"{path}.{name}: is not set{example}"
            return
        case "type":
            kind = next(kind for kind in _TYPES if kind in limit)
            limit = _TYPES[kind]
        case "enum":
            limit = ", ".join(limit)
    template = _TEXTS.get(str(error.validator), "must match: {limit}")
    text = template.format(limit=limit)
    if error.validator == "type":
        text += _such_as(schema)
    is_shown = not schema.get("secret") and "object" not in schema.get("type", ())
    if is_shown:
        text = f"{value!r} {text}"
    yield f"{path}: {text}"


def _such_as(schema: Mapping[str, Any]) -> str:
    """Return the end of a message that names a right value; empty if none is known."""
    examples = [*schema.get("examples", ()), *schema.get("enum", ())]
    default = schema.get("default")
    if default not in (None, {}):
        examples = [json.dumps(default)]
    if not examples:
        return ""
    return f", such as {examples[0]}"


def _sdk_problems(
    config: Mapping[str, Any],
    tap: str,
) -> Iterator[str]:
    is_flattened = config.get("flattening_enabled")
    if is_flattened and "flattening_max_depth" not in config:
        yield "flattening_max_depth: is required with flattening_enabled"
    if is_flattened and config.get("flattening_max_depth", 1) < 1:
        yield (
            "flattening_max_depth: set 1 or more, as less flattens nothing; to load "
            "objects as JSON text, set objects_as_text in place of flattening_enabled"
        )
    if "fake." in str(config.get("stream_maps")) and not find_spec("faker"):
        install = f"pip install '{tap}[faker]'"
        yield f"stream_maps: `fake` needs another package: {install}"
    if "batch_config" in config:
        yield (
            "batch_config: unset it, as the tap writes no BATCH files: 4 of 24 loaders "
            "that were tried accept them, load nothing, and report no error; to write "
            "Parquet to S3, use target-s3"
        )


def catalog_problems(
    catalog: Catalog,
    streams: Mapping[str, Stream],
) -> Iterator[str]:
    """Check what a catalog says about what is selected; the SDK accepts anything.

    Args:
        catalog: The catalog of the run.
        streams: All streams, to which the catalog has been applied.

    Yields:
        A line for each problem.
    """
    selected = [name for name in catalog if _is_selected(catalog, name)]
    if not selected:
        yield (
            "no stream is selected; in Meltano add rules such as "
            f"{next(iter(streams), '*')}.* to select, "
            'elsewhere put "selected": true into the metadata of a stream'
        )
    for problem in find_unknown_names(selected, streams, "stream"):
        yield f"catalog: {problem}"
    for name in selected:
        if name in streams:
            for problem in _stream_problems(streams[name]):
                yield f"catalog: {name}: {problem}"


def _is_selected(catalog: Catalog, stream: str) -> bool:
    selection = catalog[stream].metadata.resolve_selection()
    return selection[()]


def _stream_problems(stream: Stream) -> Iterator[str]:
    """Check what a catalog says about a selected stream."""
    method = stream.replication_method
    if method not in _METHODS:
        known = " and ".join(_METHODS)
        yield f"the replication method {method}: there is no such method, only {known}"
    columns = stream.effective_schema.get("properties", {})
    if not columns:
        yield "has no columns; give what --discover prints, or deselect it"
        return
    keys = dict.fromkeys(stream.primary_keys)
    if stream.replication_key:
        keys = {stream.replication_key: None, **keys}
    for problem in find_unknown_names(keys, columns, "column"):
        yield f"the key {problem}"
