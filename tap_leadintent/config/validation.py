"""Checks the settings that only this tap has, before the first request."""

import ast
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import filter as matching
from typing import Any

from jsonschema import Draft202012Validator

from tap_leadintent import openapi
from tap_leadintent.singer.checks import (
    describe_error,
    did_you_mean,
    find_unknown_names,
)
from tap_leadintent.singer.log import SHORTEST_SECRET
from tap_leadintent.times import EARLIEST, LATEST, format_instant, parse_instant

_LOCAL = r"(localhost|127(\.[0-9]{1,3}){3}|\[::1\])"
_HOST = r"([\w-]{1,63}(\.[\w-]{1,63})*\.?|\[[0-9a-f]*(:[0-9a-f]*){2,7}\])"
_PLAIN = rf"^(?i:http://)(?!(?i:{_LOCAL})(:|/|\Z))"
_NO_URL = rf"^(?!(?i:https?://({_LOCAL}|{_HOST}))(:[0-9]{{1,5}})?(/[^\s?#]*)?\Z)"
_SHORT = rf"^.{{,{SHORTEST_SECRET - 1}}}\Z"
_COPY = "copy it again from the dashboard, Developer -> API Keys"
_MISTAKES = (
    # It may be a key or a password, so it is not quoted.
    ("base_url", "@", "has a user or a key in it: leave out what is before the @"),
    ("base_url", r"/v1/?\Z", "{0!r} ends with /v1: leave that out"),
    ("base_url", "^(?!(?i:https?)://)", "{0!r} does not begin with https://"),
    ("base_url", _PLAIN, "{0!r} is not encrypted: write https:// (http for localhost)"),
    ("base_url", "[?#]", "{0!r} has a query: leave out what is after ? or #"),
    ("base_url", _NO_URL, "{0!r} is not an address, such as https://api.example.com"),
    ("api_key", _SHORT, f"has {{1}} characters, a key has more: {_COPY}"),
    ("api_key", "[^!-~]", f"has white space or another wrong character: {_COPY}"),
    ("user_agent", r"^(?![!-~]([ -~]*[!-~])?\Z)", "{0!r} is not ASCII, or has spaces"),
)
"""Settings, patterns of mistakes, the likeliest first, and what to say."""

_OPTIONS = ("__alias__", "__else__", "__filter__", "__key_properties__", "__source__")
"""What a stream map may set beside fields."""


def _date_problems(config: Mapping[str, Any]) -> Iterator[str]:
    dates: dict[str, int] = {}
    for name in sorted(config.keys() & {"start_date", "end_date"}):
        try:
            dates[name] = parse_instant(config[name])
        except ValueError:
            problem = f"{config[name]!r} is not a date or date-time, such as 2026-01-31"
            yield f"{name}: {problem}"
    start = dates.get("start_date", EARLIEST)
    end = dates.get("end_date", LATEST)
    now = time.time()
    # Up to a day ahead is accepted: in some time zones it is tomorrow already.
    if start > now + 86_400:
        today = format_instant(int(now))
        yield f"start_date: {config['start_date']} lies in the future; now is {today}"
    elif start > end:
        text = "start_date: {start_date} comes after end_date, which is {end_date}"
        yield text.format(**config)


def _text_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Check the texts that have a form, and name the first mistake of each."""
    named: set[str] = set()
    for name, pattern, text in _MISTAKES:
        if name in named or name not in config:
            continue
        value = str(config[name])
        if re.search(pattern, value):
            named.add(name)
            problem = text.format(value, len(value))
            yield f"{name}: {problem}"


def _name_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Check the names in `filters`, `exclude_fields` and `stream_maps`.

    A misspelled name would let through the field that it was meant to keep out. Other
    names that are not documented may be those of fields that the API description does
    not show, so they are accepted.

    Args:
        config: The settings, valid by their schema.

    Yields:
        A line for each problem, beginning with the setting's name.
    """
    checks = {"filters": _filter_problems, "exclude_fields": _exclusion_problems}
    for setting, check in checks.items():
        given = config.get(setting, {})
        for problem in find_unknown_names(
            given,
            openapi.STREAM_NAMES,
            "stream",
        ):
            yield f"{setting}.{problem}"
        for stream in openapi.STREAM_NAMES:
            for problem in check(stream, given.get(stream, {})):
                yield f"{setting}.{stream}.{problem}"
    for entry, definition in config.get("stream_maps", {}).items():
        for problem in _map_problems(entry, definition):
            yield f"stream_maps.{entry}{problem}"


def _filter_problems(stream: str, fields: Mapping[str, Any]) -> Iterator[str]:
    documented = openapi.request_fields(stream)
    for field, value in fields.items():
        hint = did_you_mean(field, documented)
        if "start_time" in documented.get(field, {}).get("properties", {}):
            text = "is a time range, which the tap sets if the stream is INCREMENTAL"
            yield f"{field}: {text}, from start_date on; it cannot be a filter"
        elif field == "cursor":
            yield f"{field}: is set by the tap and cannot be a filter"
        elif field in documented:
            schema = {"properties": {field: documented[field]}}
            for error in Draft202012Validator(schema).iter_errors({field: value}):
                yield from describe_error(error)
        elif hint:
            yield f"{field}: there is no such request field{hint}"


def _exclusion_problems(stream: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if name == "id":
            yield "id: cannot be removed, as the stream's key needs it"
        first, *others = name.split(".")
        hint = _respelled(first, openapi.record_fields(stream))
        is_inside = first == openapi.ADDITIONAL_PROPERTIES and others
        if is_inside or "*" in name or "__" in name or "" in {first, *others}:
            hint = "; name it as the API does, such as company.name"
        if hint:
            yield f"{name}: there is no such field{hint}"


def _respelled(name: str, documented: Iterable[str]) -> str:
    """Return a hint if a documented name differs only by case, `_` and `-`.

    Some warehouses show names in upper case, so people copy them like that. A name that
    resembles a documented one in another way may be another field.

    Args:
        name: A name that a user gives.
        documented: The names of fields.

    Returns:
        The end of a message; empty if no documented name is that similar.
    """
    spellings = {_letters_of(field): field for field in documented}
    meant = spellings.get(_letters_of(name), name)
    if meant == name:
        return ""
    return f"; did you mean {meant}?"


def _letters_of(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _map_problems(entry: str, definition: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    sets = definition if isinstance(definition, dict) else {}
    source = str(sets.get("__source__", entry))
    streams = matching(openapi.STREAM_NAMES, source)
    if not streams and entry != "__else__" and source != "loads":
        hint = did_you_mean(source, openapi.STREAM_NAMES)
        yield f": there is no stream {source}{hint}"
    options = [name for name in sets if name.startswith("__") and name.endswith("__")]
    for problem in find_unknown_names(options, _OPTIONS, "option"):
        yield f".{problem}"
    documented: set[str] = set()
    for stream in streams:
        documented |= openapi.record_fields(stream).keys()
    for name, value in sets.items():
        # Another name that has an expression is a new column.
        is_removed = value in (None, "__NULL__")
        hint = _respelled(name, documented) if is_removed else ""
        if hint:
            yield f".{name}: there is no such field{hint}"
        elif isinstance(value, str) and name not in {"__alias__", "__source__"}:
            try:
                ast.parse(value.strip())
            except (SyntaxError, ValueError) as error:
                reason = getattr(error, "msg", error)
                yield f".{name}: {value!r} is not an expression ({reason})"


CHECKS = (_text_problems, _date_problems, _name_problems)
"""Find problems of the settings that their schema cannot."""
