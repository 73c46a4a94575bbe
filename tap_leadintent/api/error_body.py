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
    *("error", "errors", "errormessage", "errorcode", "errordescription"),
    *("message", "messages", "msg", "code", "detail", "details", "reason", "title"),
}
"""Names of the fields that explain an error, without underscores."""

_PLACES = {
    *("field", "fields", "loc", "param", "parameter", "path", "pointer", "property"),
    *("source", "instancepath", "target"),
}
"""Names of the fields that say which part of a request is wrong."""


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
        kind = " of HTML" if text.startswith("<") else ""
        return f"{counted(size, 'byte')}{kind}" if size else ""
    if words := dict.fromkeys(explanations(decoded)):
        return quote(", ".join(f'"{word}"' for word in words))
    fields = (
        f" with the fields {', '.join(decoded)}" if isinstance(decoded, dict) else ""
    )
    return quote(f"{counted(size, 'byte')} of JSON{fields}")


def explanations(value: Any, *, is_inside: bool = False) -> Iterator[str]:  # noqa: ANN401 - any JSON
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
            is_title = name == "title" and "status" not in value and not is_inside
            if name.replace("_", "").lower() in _EXPLAINING and not is_title:
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
        # A plain text is an explanation; a web page has many words.
        decoded = {} if text.startswith("<") else {"error": text[:_MAX_NAMING]}
    names = set[str]()
    for words in _naming(decoded):
        names.update(re.findall(r"[a-z]+(?:_[a-z]+)*", words.lower()))
    return names


def _naming(value: Any, *, is_inside: bool = False) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        for name, inner in value.items():
            plain = name.replace("_", "").lower()
            if isinstance(inner, list) and inner and isinstance(inner[0], str):
                yield name
            yield from _naming(inner, is_inside=plain in _EXPLAINING | _PLACES)
    elif isinstance(value, list):
        for inner in value:
            yield from _naming(inner, is_inside=is_inside)
    elif is_inside and isinstance(value, str):
        yield value
