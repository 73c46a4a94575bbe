"""Checks settings and catalogs, and suggests names for misspelled ones."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any

import fsspec
from jsonschema import Draft202012Validator, ValidationError
from singer_sdk import Stream
from singer_sdk.singerlib import Catalog
from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL

Check = Callable[[Mapping[str, Any]], Iterable[str]]
"""Returns a line for each problem of the settings, which begins with the setting's
name."""

_PACKAGES = {"arrow": "pyarrow", "parquet": "pyarrow", "s3": "s3fs"}
"""The packages that the extras for batches install."""

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
    near = get_close_matches(name.lower(), [*known], n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def find_unknown_names(
    names: Iterable[str], known: Collection[str], what: str
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
        config: The settings as given; defaults are added to it, nulls are removed, and
            whole numbers become integers.
        schema: JSON schema of all settings, the SDK's own among them.
        tap: The tap's name, also that of its package, whose extras install what some
            settings need.
        complete: Whether the required settings must be set.
        checks: Find problems that the schema cannot, in the settings that it allows.

    Returns:
        A text for each problem, beginning with the setting's name. It may quote the
        value of any setting, at any length, unless that is secret.
    """
    for name, value in [*config.items()]:
        if value is None:
            del config[name]
        elif isinstance(value, float) and value.is_integer():
            config[name] = int(value)
    # The SDK's own schema of `stream_maps` is not valid.
    known = {**schema["properties"], "stream_maps": {"type": "object"}}
    for name, setting in known.items():
        if "default" in setting:
            config.setdefault(name, setting["default"])
    errors = Draft202012Validator({"properties": known}).iter_errors(config)
    required = schema.get("required", []) if complete else []
    problems = [
        *find_unknown_names(config, known, "setting"),
        *(f"{name}: is required" for name in required if name not in config),
        *map(_described, errors),
    ]
    wrong = {problem.partition(":")[0].partition(".")[0] for problem in problems}
    right = {name: value for name, value in config.items() if name not in wrong}
    for check in checks:
        problems += check(right)
    return [*problems, *_sdk_problems(right, tap)]


def _described(error: ValidationError) -> str:
    name = ".".join(map(str, error.absolute_path))
    setting: Any = error.schema
    # The message of the library would quote the value.
    if error.validator == "pattern" or setting.get("secret"):
        return f"{name}: must be: {setting['description']}"
    if error.validator == "type":
        # An object may contain a secret, such as one for `md5` in a stream map.
        for kind in ("object", "array"):
            if kind in setting["type"]:
                return f"{name}: must be an {kind}, as JSON"
    return f"{name}: {error.message}"


def _sdk_problems(config: Mapping[str, Any], tap: str) -> Iterator[str]:
    if config.get("flattening_enabled") and "flattening_max_depth" not in config:
        yield "flattening_max_depth: is required with flattening_enabled"
    if "fake." in str(config.get("stream_maps")) and not find_spec("faker"):
        package = f"pip install '{tap}[faker]'"
        yield f"stream_maps: `fake` needs another package: {package}"
    if batch := config.get("batch_config"):
        root = (batch.get("storage") or {}).get("root") or ""
        scheme = root.partition("://")[0] if "://" in root else "file"
        for extra in (batch["encoding"]["format"], scheme):
            if extra in _PACKAGES and not find_spec(_PACKAGES[extra]):
                package = f"pip install '{tap}[{extra}]'"
                yield f"batch_config: {extra} needs another package: {package}"
                return
        try:
            fsspec.get_filesystem_class(scheme)
        except (ImportError, ValueError) as error:
            yield f"batch_config.storage.root: {scheme} cannot be used: {error}"


def catalog_problems(
    catalog: Catalog, streams: Mapping[str, Stream], absent: Mapping[str, str]
) -> Iterator[str]:
    """Check what a catalog says about what is selected; the SDK accepts anything.

    Args:
        catalog: The catalog of the run.
        streams: All streams, to which the catalog has been applied.
        absent: For streams that only a setting adds, what to do if they are selected.

    Yields:
        A line for each problem.
    """
    selected = [n for n in catalog if catalog[n].metadata.resolve_selection()[()]]
    if not selected:
        yield (
            "no stream is selected; in Meltano add rules such as "
            f"{next(iter(streams), '*')}.* to select, "
            'elsewhere put "selected": true into the metadata of a stream'
        )
    for name in absent.keys() & {*selected} - streams.keys():
        yield f"catalog: {name}: {absent[name]}"
    known = {*streams, *absent}
    for problem in find_unknown_names(selected, known, "stream"):
        yield f"catalog: {problem}"
    for stream in (streams[name] for name in selected if name in streams):
        if (method := stream.replication_method) not in _METHODS:
            problem = f"there is no such method, only {' and '.join(_METHODS)}"
            yield f"catalog: {stream.name}: the replication method {method}: {problem}"
        columns = stream.effective_schema.get("properties", {})
        keys = filter(None, [stream.replication_key, *stream.primary_keys])
        for problem in find_unknown_names(dict.fromkeys(keys), columns, "column"):
            yield f"catalog: {stream.name}: the key {problem}"
