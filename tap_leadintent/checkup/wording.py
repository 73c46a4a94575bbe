"""Words of findings, which hold names of fields but no values."""

import re
from collections.abc import Iterable

from tap_leadintent.checkup.probe import UnsettledError
from tap_leadintent.errors import Reason, StreamError
from tap_leadintent.singer.log import redact

_SAFE_NAME = re.compile(r"[A-Za-z_][\w-]{0,62}(\.[A-Za-z_][\w-]{0,62})?", re.ASCII)

_REASONS = {
    Reason.NO_CONNECTION: "no connection",
    Reason.NO_RESPONSE: "no complete response, or one that is too large",
    Reason.NOT_A_PAGE: "the response is not a page of records",
}


def names(fields: Iterable[str]) -> str:
    """Write names of fields; what may be a value or a key is only counted."""
    shown = set[str]()
    hidden = set[str]()
    for name in fields:
        if is_safe(name):
            shown.add(name)
        else:
            hidden.add(name)
    texts = sorted(shown)
    if hidden:
        texts.append(f"{len(hidden)} with unusual names")
    return ", ".join(texts)


def is_safe(name: str) -> bool:
    """Return whether the name of a field can be neither a value nor the key."""
    return bool(_SAFE_NAME.fullmatch(name)) and redact(name) == name


def explain(error: StreamError | UnsettledError) -> str:
    """Return why a question has no answer, without the words of the server."""
    if isinstance(error, UnsettledError):
        return str(error)
    texts = list[str]()
    if error.status:
        texts.append(f"HTTP {error.status}")
    if error.reason:
        texts.append(_REASONS[error.reason])
    return ", ".join(texts)
