"""Explains why a request failed, by the tables in `failures.py`.

The messages of `requests` and urllib3 are not shown, because they name connection pools
and Python objects.

API description: "Errors".
"""

import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from http.client import IncompleteRead
from typing import Any
from urllib.parse import urlsplit

import requests
from requests import exceptions
from urllib3 import exceptions as urllib3

from tap_leadintent.api.error_body import describe, names_in, text_of
from tap_leadintent.api.failures import (
    EXCEPTIONS,
    RESPONSES,
    TOO_MANY,
    ExceptionRow,
    ResponseRow,
)
from tap_leadintent.api.limits import LONGEST_WAIT, seconds_to_wait
from tap_leadintent.errors import Action, Reason, StreamError
from tap_leadintent.singer.log import quote, summarize
from tap_leadintent.times import LATEST, format_instant

_TUNNEL = re.compile(r"^Tunnel connection failed: (\d{3})\b")
"""How `http.client` says what a proxy answers when it is asked for a connection."""

_PLACE_IN_LIBRARY = re.compile(r"^\[.*?\] |^_ssl\.c:\d+: | \(_ssl.*")
"""What OpenSSL adds to the reason of a failure."""

_LIMIT_NAMES = {"limit", "page_size", "pagesize", "per_page", "perpage"}
"""Names of the number of records that a request may ask for."""

_QUOTA_NAMES = {"quota", "ratelimit", "throttled", "throttling"}
"""Words of an explanation that is about the number of requests."""

_TIME_NAMES = {
    "date",
    "dates",
    "day",
    "days",
    "month",
    "months",
    "year",
    "years",
    "range",
    "start_time",
    "starttime",
    "end_time",
    "endtime",
    "period",
    "interval",
}
"""Words of an explanation that is about a time range."""

_MAX_SERVER = 60
"""Characters of a server's name that are shown."""

_SECRET_PARTS = re.compile("(?<=//)[^/]*@|[?#].*")
"""What may be secret in the address of a redirect."""


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What other requests of the run have shown by now."""

    has_succeeded: bool = False
    """Whether one has got a page: "after a page" in the tables."""

    has_answered: bool = False
    """Whether one to the same endpoint has got a page: "answered" in the tables."""

    is_alone: bool = True
    """Whether none to the same endpoint has failed since its last page: "alone"."""


def explain_no_response(
    error: Exception,
    url: str,
    seconds: float,
    circumstances: Circumstances = Circumstances(),
) -> StreamError:
    """Explain why there is no response.

    Args:
        error: The error that a request raised.
        url: The request's address.
        seconds: The request's timeout.
        circumstances: What other requests of the run have shown.

    Returns:
        The error to raise, without a full stop.
    """
    causes = list(_causes(error))
    code = _status_of_tunnel(causes)
    is_true = {
        "": True,
        "after a page": circumstances.has_succeeded,
        "403 or 407": code in {403, 407},
        "5xx": code in range(500, 600),
    }
    actions, text = _row_of_exception(causes, is_true)
    host = summarize(urlsplit(url).netloc)
    # The words of a server or a proxy may hold the key in another encoding.
    why = quote(_reason(causes))
    message = text.format(host=host, seconds=seconds)
    reason = Reason.NO_RESPONSE
    if Action.END_RUN in actions:
        reason = Reason.NO_CONNECTION
    return StreamError(
        message,
        detail=why,
        reason=reason,
        actions=actions,
    )


def _row_of_exception(
    causes: list[BaseException],
    is_true: Mapping[str, bool],
) -> tuple[Action, str]:
    """Return what to do after an exception, and what to advise."""
    rows = (row for row in EXCEPTIONS if _explains(row, causes, is_true))
    _, _, actions, text = next(rows)
    return actions, text


def _explains(
    row: ExceptionRow,
    causes: list[BaseException],
    is_true: Mapping[str, bool],
) -> bool:
    kind, case, _, _ = row
    if not is_true[case]:
        return False
    return any(isinstance(cause, kind) for cause in causes)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all errors that it wraps."""
    yield error
    reason = getattr(error, "reason", None)
    for inner in (*error.args, reason, error.__cause__):
        if isinstance(inner, BaseException):
            yield from _causes(inner)


def _status_of_tunnel(causes: list[BaseException]) -> int | None:
    """Return the status with which a proxy has refused a connection; else None."""
    for cause in causes:
        if not isinstance(cause, OSError):
            continue
        found = _TUNNEL.match(str(cause))
        if found:
            return int(found[1])
    return None


def _reason(causes: list[BaseException]) -> str:
    """Return the reason that Python or the system gives."""
    libraries = (exceptions.RequestException, urllib3.HTTPError, IncompleteRead)
    for cause in causes:
        if not isinstance(cause, libraries):
            reason = getattr(cause, "strerror", None) or str(cause)
            return _PLACE_IN_LIBRARY.sub("", reason)
    return "no reason was given"


def explain_no_page(  # noqa: PLR0913 - each may change the advice
    response: requests.Response,
    body: bytes,
    server_time: int | None,
    *,
    sent: Mapping[str, Any],
    filters: Collection[str] = (),
    stream: str = "",
    problem: str = "",
    circumstances: Circumstances = Circumstances(),
) -> StreamError:
    """Explain a response that is not a page of records.

    Args:
        response: The response.
        body: Its complete body.
        server_time: When the request arrived, see `ServerClock.note`.
        sent: The body of the request.
        filters: The fields of the request that the setting `filters` adds.
        stream: The stream, as that setting names it.
        problem: Why the body of a successful response is not a page.
        circumstances: What other requests of the run have shown.

    Returns:
        The error to raise.
    """
    text = text_of(body)
    headers = response.headers
    is_rate_limit = response.status_code in TOO_MANY
    wait = seconds_to_wait(headers, is_rate_limit=is_rate_limit)
    url = urlsplit(response.url or "")
    location = headers.get("Location", "")
    with_slash = (f"{url.path}/", f"{response.url}/")
    names = names_in(text)
    is_quota = {"rate", "limit"} <= names or not names.isdisjoint(_QUOTA_NAMES)
    ranges = sent.keys() - {"cursor", *filters}
    cursor = sent.get("cursor", {})
    is_true = {
        "": True,
        "after a page": circumstances.has_succeeded,
        "answered": circumstances.has_answered,
        "alone": circumstances.is_alone,
        "later page": "after" in cursor,
        # The words are those of msgspec.
        "cut": text.startswith("{") and "truncated" in problem,
        "empty": not text,
        "filters": bool(filters),
        "html": text.startswith("<"),
        "names a filter": not names.isdisjoint(filters),
        "names a quota": is_quota,
        "names the limit": not is_quota and not names.isdisjoint(_LIMIT_NAMES),
        "names the range": bool(ranges) and not names.isdisjoint(_TIME_NAMES | ranges),
        "redirect": "Location" in headers,
        "slash": location in with_slash,
        "wait": bool(wait),
    }
    actions, advice = _row(response.status_code, is_true)
    after_a_page = is_true | {"after a page": True}
    _, if_others_succeed = _row(response.status_code, after_a_page)
    if Action.RETRY in actions and wait > LONGEST_WAIT:
        end = min(time.time() + wait, LATEST)
        until = format_instant(int(end))
        actions = Action.END_RUN
        advice = f"run the tap after {until}: the API wants no request until then"
        if_others_succeed = advice
    values = {
        "fields": ", ".join(sent),
        "filters": f"filters.{stream}",
        "host": summarize(url.netloc),
        "location": summarize(_SECRET_PARTS.sub("", location)),
        "page_size": cursor.get("limit"),
        "path": url.path,
    }
    words = [
        _status_line(response),
        quote(problem),
        describe(text, len(body)),
    ]
    if if_others_succeed == advice:
        if_others_succeed = ""
    return StreamError(
        advice.format_map(values),
        if_others_succeed=if_others_succeed.format_map(values),
        detail=": ".join(filter(None, words)),
        status=response.status_code,
        reason=Reason.NOT_A_PAGE if problem else None,
        retry_after=wait,
        server_time=server_time,
        actions=actions,
    )


def _row(
    status: int,
    is_true: Mapping[str, bool],
) -> tuple[Action, str]:
    """Return what to do after a response, and what to advise."""
    rows = (row for row in RESPONSES if _applies(row, status, is_true))
    _, _, actions, advice = next(rows)
    return actions, advice


def _applies(
    row: ResponseRow,
    status: int,
    is_true: Mapping[str, bool],
) -> bool:
    statuses, case, _, _ = row
    if status not in statuses:
        return False
    return all(is_true[condition] for condition in case.split(", "))


def _status_line(response: requests.Response) -> str:
    """Say what the response's status is, and which server it names."""
    reason = quote(response.reason or "")
    status = f"HTTP {response.status_code} {reason}"
    words = [status.rstrip()]
    for name in ("Server", "Via"):
        server = quote(response.headers.get(name, ""), _MAX_SERVER)
        if server:
            words.append(f"{name} {server}")
    return ", ".join(words)
