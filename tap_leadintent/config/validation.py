"""Checks the settings before the first request."""

import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from jsonschema import ValidationError
from singer_sdk.batch import Batcher
from singer_sdk.helpers._batch import BatchConfig
from singer_sdk.plugin_base import JSONSchemaValidator

from tap_leadintent.config.names import name_problems
from tap_leadintent.config.settings import SCHEMA
from tap_leadintent.singer.settings import find_unknown_names
from tap_leadintent.times import EARLIEST, LATEST, parse_instant


def validate(
    config: dict[str, Any], schema: Mapping[str, Any], *, complete: bool
) -> list[str]:
    """Check a configuration and fill in the defaults.

    Args:
        config: The settings as given; defaults are added to it, nulls are removed, and
            whole numbers become integers.
        schema: JSON schema of all settings, the SDK's own among them.
        complete: Whether the required settings must be set.

    Returns:
        A text for each problem, beginning with the setting's name. It may quote the
        value of any setting except `api_key`, at any length.
    """
    for name, value in [*config.items()]:
        if value is None:
            del config[name]
        elif isinstance(value, float) and value.is_integer():
            config[name] = int(value)
    # The SDK's own schema of `stream_maps` is not valid.
    known = {**schema["properties"], "stream_maps": {"type": "object"}}
    errors = JSONSchemaValidator({"properties": known}).iter_errors(config)
    required = schema["required"] if complete else []
    problems = [
        *find_unknown_names(config, known, "setting"),
        *(f"{name}: is required" for name in required if name not in config),
        *map(_described, errors),
    ]
    wrong = {problem.partition(":")[0].partition(".")[0] for problem in problems}
    right = {name: value for name, value in config.items() if name not in wrong}
    for check in (_date_problems, name_problems, _sdk_problems):
        problems += check(right)
    return problems


def _described(error: ValidationError) -> str:
    name = ".".join(map(str, error.absolute_path))
    # The message of the library would quote the key.
    if error.validator == "pattern" or name == "api_key":
        return f"{name}: must be: {SCHEMA['properties'][name]['description']}"
    return f"{name}: {error.message}"


def _date_problems(config: Mapping[str, Any]) -> Iterator[str]:
    dates: dict[str, int] = {}
    for name in sorted(config.keys() & {"start_date", "end_date"}):
        try:
            dates[name] = parse_instant(config[name])
        except ValueError:
            problem = f"{config[name]!r} is not a date or date-time, such as 2026-01-31"
            yield f"{name}: {problem}"
    # Up to a day ahead is accepted: in some time zones it is tomorrow already.
    latest = min(dates.get("end_date", LATEST), time.time() + 86_400)
    if dates.get("start_date", EARLIEST) > latest:
        yield "start_date: comes after end_date, or lies in the future"
    if "recheck_days" in config and "start_date" not in config:
        yield "recheck_days: needs start_date; without it no part can be read again"


def _sdk_problems(config: Mapping[str, Any]) -> Iterator[str]:
    if config.get("flattening_enabled") and "flattening_max_depth" not in config:
        yield "flattening_max_depth: is required with flattening_enabled"
    if "fake." in str(config.get("stream_maps")) and not find_spec("faker"):
        package = "pip install 'tap-leadintent[faker]'"
        yield f"stream_maps: `fake` needs another package: {package}"
    if batch := config.get("batch_config"):
        try:
            batches = BatchConfig.from_dict(batch)
            Batcher.get_batcher(batches.encoding.format)
            size: object = batches.batch_size
        except (AttributeError, TypeError, ValueError) as error:
            yield f"batch_config: {error}"
            return
        # The SDK's schema lacks it. In batches of 0 rows it would write none.
        if not isinstance(size, int) or size < 1:
            yield "batch_config.batch_size: must be an integer, 1 or more"
