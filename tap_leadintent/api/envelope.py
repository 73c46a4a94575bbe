"""Reads what a page says beside its records.

API description: "Page envelope". It shows no other fields, so their names and values
mean nothing here, but for the few of `failure_in`. `siblings.py` compares them with
those of other pages.
"""

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from tap_leadintent.api.page import Page

_ERRORS = {"error", "errors"}
"""Fields that hold an error; without one they are empty."""

_NOTHING = {
    "",
    "0",
    "200",
    "false",
    "no",
    "none",
    "null",
    "ok",
    "success",
}
"""Texts of errors that mean that there is none."""

_FAILURES = {
    "abort",
    "aborted",
    "error",
    "errors",
    "fail",
    "failed",
    "failure",
    "incomplete",
    "partial",
    "partially",
    "timeout",
    "unavailable",
    "pending",
    "processing",
    "queued",
    "running",
}
"""Words of a status that says that there was a failure, or that there is no result yet.
"""

_TIMED_OUT = re.compile("timed?[ _-]out")
_DIGIT = re.compile(r"\d")
_TIME = re.compile(r"\d{4}-\d\d-\d\d")

_DEPTH = 4
"""Levels of fields that are compared one by one; what is deeper is one value."""

_ITEMS = 100
"""Items of a list that are compared."""

Claims = frozenset[str]
"""What is true of a value on one page. Each claim is a short text: the digest of the
value, or one of the letters below, such as `ON_LAST`, "the value is set only on the
last page of a query". The claims that are true on all pages say what is usual."""

_FLAG = "!"
_NO_FLAG = "~"
_MARKS = {_FLAG, _NO_FLAG}
"""The first character of the digest of a value."""

IS_COUNT = "n"
"""The value is the number of the page's records."""

IS_TIME = "t"
"""The value is a time, so it is not a flag."""

ON_MORE = "m"
ON_LAST = "l"
ON_FIRST = "f"
ON_LATER = "p"
"""The value is set on these pages of a query, and on no others."""

KINDS = {
    ON_MORE: ON_LAST,
    ON_LAST: ON_MORE,
    ON_FIRST: ON_LATER,
    ON_LATER: ON_FIRST,
}
"""The kinds of pages, each with its opposite."""

EMPTY_BODY = "an empty body"
"""The name of a field that stands for a response without a body."""

NO_HAS_MORE = "cursor.has_more, which is missing"
"""The name of a field that stands for the lack of `cursor.has_more` in a page."""


@dataclass(frozen=True)
class Envelope:
    """What a page says beside its records."""

    kinds: Claims
    """Which kinds of pages the page belongs to, of those in `KINDS`."""

    names: Mapping[str, str]
    """For the digest of the path of each value that is not null, the path."""

    fields: Mapping[str, Claims]
    """For the same digests, what holds for the value."""

    failure: str | None
    """The path of a field that says that the records are not all; None without one."""

    def claims(self, key: str) -> Claims:
        """Return what holds for the value at a path, by the digest of the path."""
        return self.fields.get(key) or claims_of_absent(self.kinds)


def read_envelope(page: Page, *, is_first: bool) -> Envelope:
    """Return what a page says beside its records.

    Args:
        page: The page.
        is_first: Whether it is the first one of its query.
    """
    kinds = frozenset(
        {
            ON_MORE if page.has_more else ON_LAST,
            ON_FIRST if is_first else ON_LATER,
        },
    )
    content: dict[str, Any] = {}
    for name, raw in page.other_fields.items():
        content[name] = msgspec.json.decode(raw)
    values: dict[str, list[Any]] = {}
    for path, value in _leaves(content):
        values.setdefault(path, []).append(value)
    if page.lacks_has_more:
        values[NO_HAS_MORE] = [True]
    names: dict[str, str] = {}
    fields: dict[str, Claims] = {}
    for path, found in values.items():
        key = _digest(path)
        names[key] = path
        fields[key] = _claims(found, kinds, page.records)
    return Envelope(
        kinds,
        names,
        fields,
        failure=failure_in(content),
    )


def claims_of_absent(kinds: Claims) -> Claims:
    """Return what holds for a value that is absent.

    Args:
        kinds: The kinds of all pages that lack it.
    """
    null = _value_digest([None])
    other_kinds = KINDS.keys() - kinds
    return frozenset({null}) | other_kinds


def value_of(claims: Claims) -> str:
    """Return the digest of the value; empty if it differs from page to page."""
    for claim in claims:
        if claim[0] in _MARKS:
            return claim
    return ""


def is_flag(value: str) -> bool:
    """Return whether the digest of a value is that of one that may be a flag.

    Ids, times, counts and versions are none: they may change at any time.
    """
    return value.startswith(_FLAG)


def failure_in(content: Mapping[str, Any]) -> str | None:
    """Return the path of a field that says that the records of a page are not all.

    Args:
        content: The fields of the envelope that are not documented.

    Returns:
        The path, such as `meta.status`; None without one.
    """
    for path, value in content.items():
        _, _, name = path.rpartition(".")
        if _is_failure(name, value):
            return path
        # What has an id is a record of its own, such as an agent with a status.
        if not isinstance(value, dict) or "id" in value:
            continue
        for inner_name, inner in value.items():
            if _is_failure(inner_name, inner):
                return f"{path}.{inner_name}"
    return None


def _leaves(
    value: Any,  # noqa: ANN401 - any JSON
    path: str = "",
    depth: int = 0,
) -> Iterator[tuple[str, Any]]:
    """Yield path and value of everything in a JSON value that is not null."""
    if isinstance(value, dict) and depth < _DEPTH:
        for name, inner in value.items():
            # A name with a digit is likely an id, and thus another one on each page.
            plain = "*" if _DIGIT.search(name) else name
            inner_path = f"{path}.{plain}" if path else plain
            yield from _leaves(inner, inner_path, depth + 1)
    elif isinstance(value, list) and depth < _DEPTH:
        for inner in value[:_ITEMS]:
            yield from _leaves(inner, f"{path}[]", depth + 1)
    elif value is not None:
        yield path, value


def _claims(
    values: list[Any],
    kinds: Claims,
    records: int,
) -> Claims:
    claims = {_value_digest(values)}
    if len(values) == 1:
        (value,) = values
        if type(value) is int and value == records:
            claims.add(IS_COUNT)
        if isinstance(value, str) and _TIME.match(value):
            claims.add(IS_TIME)
        if not value:
            claims |= KINDS.keys() - kinds
        elif value is True or not _may_be_flag(value):
            claims |= kinds
    return frozenset(claims)


def _digest(text: str) -> str:
    """Return four characters that stand for a text."""
    digest = blake2b(text.encode(), digest_size=3).digest()
    return urlsafe_b64encode(digest).decode()


def _value_digest(values: list[Any]) -> str:
    texts = {json.dumps(value, sort_keys=True) for value in values}
    mark = _FLAG if all(map(_may_be_flag, values)) else _NO_FLAG
    joined = "\n".join(sorted(texts))
    return mark + _digest(joined)[:3]


def _may_be_flag(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value is true, false, nothing, or words."""
    if isinstance(value, str):
        return _DIGIT.search(value) is None
    return not value or value is True


def _is_failure(name: str, value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a field says that the records are not all."""
    plain = name.lower()
    if plain in _ERRORS:
        return _is_something(value)
    if plain == "status":
        return _names_failure(value)
    if plain == "success":
        return str(value).lower() == "false"
    return False


def _is_something(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value has more than zeros, and texts that mean nothing."""
    if isinstance(value, dict):
        return any(map(_is_something, value.values()))
    if isinstance(value, list):
        return any(map(_is_something, value))
    if value is None:
        return False
    words = str(value).strip().lower()
    return words not in _NOTHING and not words.startswith("no error")


def _names_failure(value: Any) -> bool:  # noqa: ANN401 - any JSON
    if isinstance(value, int):
        return value >= 400  # noqa: PLR2004 - as of HTTP
    text = _TIMED_OUT.sub("timeout", str(value).lower())
    words = re.split("[^a-z]+", text)
    if "no" in words:
        return False
    return not _FAILURES.isdisjoint(words)
