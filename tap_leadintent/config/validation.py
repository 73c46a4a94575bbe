"""Checks the settings before the first request."""

from __future__ import annotations

import json
import math
import time
from copy import deepcopy
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from jsonschema import Draft202012Validator
from singer_sdk.plugin_base import JSONSchemaValidator

from tap_leadintent.config.exclusions import exclusion_problems
from tap_leadintent.config.extras import missing_packages
from tap_leadintent.config.files import TOO_DEEP, is_deep
from tap_leadintent.config.sdk_settings import (
    batch_problems,
    flattening_problems,
    repaired,
)
from tap_leadintent.config.stream_maps import map_problems
from tap_leadintent.config.suggestions import did_you_mean, unknown_settings
from tap_leadintent.openapi import fields_set_by_the_tap, request_fields, stream_names
from tap_leadintent.redaction import SHORTEST_SECRET
from tap_leadintent.times import parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jsonschema import ValidationError

_DAY = 86_400
_MOST_DAYS = 36_525
"""A hundred years. More is a mistake, and dates could not hold it."""


def validate(
    config: dict[str, Any],
    schema: Mapping[str, Any],
    *,
    complete: bool,
) -> list[str]:
    """Check a configuration and fill in the defaults.

    Args:
        config: The settings as given; defaults are added to it, nulls are removed, and
            whole numbers become integers where the schema wants them.
        schema: JSON schema of all settings, the SDK's own among them.
        complete: Whether the required settings must be set.

    Returns:
        A text for each problem, beginning with the setting's name. It may quote the
        value of any setting except `api_key`, at any length.
    """
    if deep := [name for name, value in config.items() if is_deep(value)]:
        return [f"{name}: {TOO_DEEP}" for name in deep]
    _normalise(config, schema["properties"])
    required = schema["required"] if complete else []
    validator = JSONSchemaValidator({**repaired(schema), "required": []})
    errors = [
        *unknown_settings(config, schema["properties"]),
        *(f"{name}: is required" for name in required if name not in config),
        *map(_described, validator.iter_errors(config)),
    ]
    if errors:
        return errors
    checks: dict[str, Callable[[Any], Iterator[str]]] = {
        "base_url": _base_url_problems,
        "api_key": _api_key_problems,
        "user_agent": _user_agent_problems,
        "start_date": _start_problems,
        "end_date": _instant_problems,
        "window_days": partial(_number_problems, most=_MOST_DAYS),
        "recheck_days": partial(_number_problems, most=_MOST_DAYS),
        "lookback_minutes": partial(_number_problems, most=_MOST_DAYS * 1440),
        "request_timeout_seconds": partial(_number_problems, most=86_400),
        "filters": _filter_problems,
        "exclude_fields": exclusion_problems,
        "stream_maps": map_problems,
        "batch_config": batch_problems,
    }
    errors = [
        f"{name}{problem}"
        for name, check in checks.items()
        if name in config
        for problem in check(config[name])
    ]
    return errors or [
        *_order_problems(config),
        *_recheck_problems(config),
        *flattening_problems(config),
        *missing_packages(config),
    ]


def undocumented_filters(filters: Mapping[str, Any]) -> list[str]:
    """List the request fields that the API description does not show.

    Args:
        filters: The setting `filters`, or a part of it.

    Returns:
        Each as `filters.<stream>.<field>`.
    """
    return [
        f"filters.{stream}.{field}"
        for stream, fields in filters.items()
        for field in fields
        if field not in request_fields(stream)
    ]


def _normalise(config: dict[str, Any], settings: Mapping[str, Any]) -> None:
    for name, value in list(config.items()):
        integer = "integer" in settings.get(name, {}).get("type", ())
        if value is None:
            del config[name]
        elif integer and isinstance(value, float) and value.is_integer():
            config[name] = int(value)
        else:
            # The SDK removes `__else__` from stream maps, which belong to the caller.
            config[name] = deepcopy(value)


def _described(error: ValidationError) -> str:
    name = ".".join(map(str, error.absolute_path))
    if name == "api_key":
        return "api_key: must be a string"
    return f"{name}: {error.message}"


def _base_url_problems(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        host = _host_to_connect_to(url)
    except (OSError, ValueError):
        host = ""
    if not host or parts.scheme not in {"http", "https"} or url != url.strip():
        yield ": must be a URL such as https://api.example.com"
    elif parts.username is not None or parts.password is not None:
        yield ": must not carry credentials; the key goes into api_key"
    elif parts.scheme == "http" and not _is_loopback(host):
        yield ": must begin with https://, as plain http would send the key unencrypted"
    elif parts.query or parts.fragment:
        yield ": must not carry a query or a fragment"
    elif parts.path.rstrip("/").endswith("/v1"):
        yield ": must be given without /v1, which the tap adds"


def _host_to_connect_to(url: str) -> str:
    """Give the host as a request would name it; fail if no request could be made."""
    sent = requests.Request("POST", url).prepare().url
    host = urlsplit(sent or "").hostname or ""
    # As the connection does, which requires labels of 1 to 63 characters.
    host.encode("idna")
    return host


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _api_key_problems(key: str) -> Iterator[str]:
    if not key:
        yield ": is empty"
    elif not (key.isascii() and key.isprintable()) or " " in key:
        yield ": must not hold white space, control or non-ASCII characters"
    elif len(key) < SHORTEST_SECRET:
        yield (
            f": has fewer than {SHORTEST_SECRET} characters, too few to be kept out of "
            "messages; copy the whole key from the dashboard"
        )


def _user_agent_problems(user_agent: str) -> Iterator[str]:
    if not (user_agent.isascii() and user_agent.isprintable()):
        yield ": must be printable ASCII"
    elif user_agent != user_agent.strip():
        yield ": must not begin or end with white space"


def _number_problems(number: float, most: int) -> Iterator[str]:
    if not math.isfinite(number):
        yield ": must be a finite number"
    elif number > most:
        yield f": must be at most {most}"


def _instant_problems(text: str) -> Iterator[str]:
    try:
        parse_instant(text)
    except ValueError:
        yield f": {text!r} is not a date or date-time, such as 2026-01-31"


def _start_problems(text: str) -> Iterator[str]:
    problems = [*_instant_problems(text)]
    yield from problems
    # Up to a day ahead is accepted: in some time zones it is tomorrow already.
    if not problems and parse_instant(text) > time.time() + _DAY:
        yield f": {text} lies in the future"


def _order_problems(config: Mapping[str, Any]) -> Iterator[str]:
    start, end = config.get("start_date"), config.get("end_date")
    if start and end and parse_instant(end) < parse_instant(start):
        yield "end_date: comes before start_date"


def _recheck_problems(config: Mapping[str, Any]) -> Iterator[str]:
    if "recheck_days" in config and "start_date" not in config:
        yield (
            "recheck_days: needs start_date; without it a load is one unfiltered "
            "chain, of which no part can be read again"
        )


def _filter_problems(filters: Mapping[str, Any]) -> Iterator[str]:
    streams = stream_names()
    for stream, fields in filters.items():
        if stream not in streams:
            yield f".{stream}: there is no such stream{did_you_mean(stream, streams)}"
        elif not isinstance(fields, dict):
            yield f".{stream}: must be an object of request fields"
        else:
            for field, value in fields.items():
                for problem in _field_problems(stream, field, value):
                    yield f".{stream}.{field}: {problem}"


def _field_problems(stream: str, field: str, value: object) -> Iterator[str]:
    documented = request_fields(stream)
    if field in fields_set_by_the_tap():
        yield "is set by the tap and cannot be a filter"
    elif field in documented:
        for error in Draft202012Validator(documented[field]).iter_errors(value):
            yield error.message
    elif nearest := did_you_mean(field, documented):
        yield f"there is no such request field{nearest}"
    if not _is_json({field: value}):
        yield "holds what JSON cannot hold, such as NaN or a lone surrogate"


def _is_json(value: object) -> bool:
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, default=str)
        text.encode()
    except ValueError:
        return False
    return True
