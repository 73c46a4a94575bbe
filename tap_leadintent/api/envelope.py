"""Reads what a page says beside its records about whether they are complete.

API description: "Page envelope". It shows no other fields, so the tables below have the
names and values that are usual. Fields one level down count as well.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

_ERRORS = {"error", "errors"}
"""Fields that hold an error, if there is one."""

_NOTHING = {"", "0", "200", "false", "no", "none", "null", "ok", "success"}
"""Texts of errors that mean that there is none."""

_FLAGS = {
    **dict.fromkeys(("success", "ok"), "false"),
    **dict.fromkeys(("timedout", "timeout", "partial", "ispartial"), "true"),
    **dict.fromkeys(("incomplete", "incompleteresults"), "true"),
}
"""Fields that are true or false, and which of them names a failure."""

_FAILURES = {
    *("abort", "aborted", "error", "errors", "fail", "failed", "failure"),
    *("incomplete", "partial", "partially", "timeout", "unavailable"),
}
"""Words of a status that names a failure."""

_TOTALS = {"total", "totalcount", "totalrecords", "totalresults", "totalhits"}
"""Fields that say how many records the whole query has, if they hold a number."""


def failure_in(fields: Mapping[str, msgspec.Raw]) -> str | None:
    """Return the path of a field that says that a page is not complete.

    Args:
        fields: The JSON of each field of the envelope that is not documented.

    Returns:
        Its path, such as `meta.timed_out`; None if there is none.
    """
    found = (path for path, name, value in _flat(fields) if _is_failure(name, value))
    return next(found, None)


def total_in(fields: Mapping[str, msgspec.Raw]) -> int | None:
    """Return how many records the query has, as the page says.

    Args:
        fields: The JSON of each field of the envelope that is not documented.

    Returns:
        The largest such number; None without one.
    """
    totals = (v for _, n, v in _flat(fields) if n in _TOTALS and type(v) is int)
    return max(totals, default=None)


def _flat(fields: Mapping[str, msgspec.Raw]) -> Iterator[tuple[str, str, Any]]:
    """Yield path, name without underscores, and value of fields on both levels."""
    for name, raw in fields.items():
        value = msgspec.json.decode(raw)
        yield name, _plain(name), value
        # What has an id is a record of its own, such as an agent with a status.
        is_about_page = isinstance(value, dict) and "id" not in value
        for inner in value if is_about_page else ():
            yield f"{name}.{inner}", _plain(inner), value[inner]


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _is_failure(name: str, value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a field, by its plain name, says that the records are not all."""
    if name in _ERRORS:
        return _is_something(value)
    if name == "status":
        return _names_failure(value)
    return str(value).lower() == _FLAGS.get(name)


def _is_something(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value has more than zeros, and texts that mean nothing."""
    if isinstance(value, dict):
        return any(map(_is_something, value.values()))
    if isinstance(value, list):
        return any(map(_is_something, value))
    words = str("" if value is None else value).strip().lower()
    return words not in _NOTHING and not words.startswith("no error")


def _names_failure(value: Any) -> bool:  # noqa: ANN401 - any JSON
    if isinstance(value, int):
        return value >= 400  # noqa: PLR2004 - as of HTTP
    text = re.sub("timed?[ _-]out", "timeout", str(value).lower())
    words = re.split("[^a-z]+", text)
    return bool(_FAILURES.intersection(words)) and "no" not in words
