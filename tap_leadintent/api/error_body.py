"""Describes the body of a failed response without the values of records.

API description: "Errors". It shows no error bodies, so a JSON object is searched for
the names that are usual in them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from tap_leadintent.singer.log import quote
from tap_leadintent.words import counted

_MAX_BYTES = 2**20
"""Bytes of a body that are decoded."""

_MAX_NAMING = 1_000
"""Characters of a plain text that are searched for names."""

_EXPLAINING = {
    "error",
    "errors",
    "errormessage",
    "errorcode",
    "errordescription",
    "message",
    "messages",
    "msg",
    "code",
    "detail",
    "details",
    "reason",
    "title",
}
"""Names of the fields that explain an error, without underscores."""

_PLACES = {
    "field",
    "fields",
    "loc",
    "param",
    "parameter",
    "path",
    "pointer",
    "property",
    "source",
    "instancepath",
    "target",
}
"""Names of the fields that say which part of a request is wrong."""

_NAMING = _EXPLAINING | _PLACES

_NAME = re.compile(r"[a-z]+(?:_[a-z]+)*")


def text_of(body: bytes) -> str:
    """Decode the beginning of a body.

    Args:
        body: The body.

    Returns:
        Its text, without a byte order mark and white space before it.
    """
    return body[:_MAX_BYTES].decode(errors="replace").lstrip("\ufeff \r\n\t")


def describe(text: str, size: int) -> str:
    """Describe the body of a failed response for a message.

    Args:
        text: The body's text.
        size: How many bytes the body has.

    Returns:
        What a JSON object says about an error, shortened. Of any other body only the
        size and the kind, as it may hold values of records; empty without a body.
    """
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return _describe_text(text, size)
    different = dict.fromkeys(explanations(decoded))
    if different:
        words = [f'"{word}"' for word in different]
        return quote(", ".join(words))
    shown = f"{counted(size, 'byte')} of JSON"
    if isinstance(decoded, dict):
        names = ", ".join(decoded)
        shown += f" with the fields {names}"
    return quote(shown)


def _describe_text(text: str, size: int) -> str:
    """Describe a body that is not JSON."""
    if not size:
        return ""
    shown = counted(size, "byte")
    if text.startswith("<"):
        return f"{shown} of HTML"
    return shown


def explanations(
    value: Any,  # noqa: ANN401 - any JSON
    *,
    is_inside: bool = False,
) -> Iterator[str]:
    """Yield the texts that explain an error.

    Args:
        value: Any decoded JSON.
        is_inside: Whether it is the value of a field that explains an error. Otherwise,
            a list may be one of records, and a title that of a person.

    Yields:
        Each text.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            # A problem detail (RFC 9457) has a title beside its status.
            is_about_record = (
                name == "title" and "status" not in value and not is_inside
            )
            if _plain(name) in _EXPLAINING and not is_about_record:
                yield from explanations(inner, is_inside=True)
    elif is_inside and isinstance(value, list):
        for inner in value:
            yield from explanations(inner, is_inside=True)
    elif is_inside and isinstance(value, str) and value:
        yield value


def names_in(text: str) -> set[str]:
    """Return the words of an error that may name a part of the request.

    Frameworks name it in the text, beside it (`loc`, `field`), or as the key of a list
    of texts.

    Args:
        text: The body's text.

    Returns:
        Each name, in lower case.
    """
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        decoded = {}
        # A plain text is an explanation; a web page has many words.
        if not text.startswith("<"):
            decoded["error"] = text[:_MAX_NAMING]
    names = set[str]()
    for words in _naming(decoded):
        found = _NAME.findall(words.lower())
        names.update(found)
    return names


def _naming(
    value: Any,  # noqa: ANN401 - any JSON
    *,
    is_inside: bool = False,
) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if _is_list_of_texts(inner):
                yield name
            is_naming = _plain(name) in _NAMING
            yield from _naming(inner, is_inside=is_naming)
    elif isinstance(value, list):
        for inner in value:
            yield from _naming(inner, is_inside=is_inside)
    elif is_inside and isinstance(value, str):
        yield value


def _is_list_of_texts(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return isinstance(value[0], str)


def _plain(name: str) -> str:
    """Return the name of a field without its style, as in `_EXPLAINING`."""
    return name.replace("_", "").lower()
