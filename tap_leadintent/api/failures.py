"""Says what follows from each kind of failed request, and explains it.

The two tables, of responses and of exceptions, are the only place that knows kinds of
failures. Other modules ask the error, see `Consequences`.

API description: "Errors". It shows no status codes and no error bodies, so this module
follows the HTTP standard. The messages of `requests` and urllib3 are not shown, because
they name connection pools and Python objects.
"""

import re
import ssl
from collections.abc import Collection, Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import requests
from requests import exceptions
from urllib3 import exceptions as urllib3

from tap_leadintent.api.limits import retry_after
from tap_leadintent.errors import SUPPORT, Consequences, Reason, StreamError
from tap_leadintent.singer.log import Secret

_MAX_BYTES = 2**20
"""Bytes of a body that are decoded for a message."""

_ROOT = "check base_url, which is the root of the API without /v1"
_KEY = (
    "the API refused the key; set api_key to a valid key, created in the dashboard "
    "under Developer -> API Keys"
)
_ACCESS = "this key may not read this endpoint; deselect the stream, or ask for access"
_NO_API = f"the API was not found at this address; {_ROOT}"
_NO_PAGE = f"this is not a page of records, and redirects are not followed; {_ROOT}"
_FILTERS = "the API does not accept the request; check filters, if they are set"
_TOO_LARGE = "the request or its time range is too large for the API; lower window_days"
_REFUSED = f"the API refused the request; {SUPPORT}"
_FEWER = "the API wants fewer requests; set max_requests_per_minute, or lower it"
_OVERLOADED = (
    "the API, or a gateway before it, is down or overloaded; lower concurrency, or try "
    f"later; {SUPPORT}"
)

_SOCKS = (
    "a SOCKS proxy is set, which needs another package: pip install 'requests[socks]'"
)
_ADDRESS = "there is no such address; check base_url, HTTPS_PROXY and ALL_PROXY"
_PROXY = (
    "the proxy does not forward requests ({why}); check HTTPS_PROXY or ALL_PROXY, with "
    "user and password if the proxy needs them, and NO_PROXY"
)
_CERTIFICATE = (
    "the server's certificate is not trusted ({host}: {why}); check base_url, or set "
    "REQUESTS_CA_BUNDLE if the certificate is your own"
)
_UNREACHABLE = (
    "{host} cannot be reached ({why}); check base_url, this machine's network, and the "
    "firewalls on the way"
)
_LATE = (
    "the response of {host} was not complete within {seconds:g} s; raise "
    "request_timeout_seconds, or lower page_size or concurrency"
)
_CUT = f"{{host}} ended its response early; {SUPPORT}, or lower page_size"
_NO_TLS = (
    "{host} does not speak TLS ({why}); check the port in base_url, and whether it "
    "should begin with http:// (for this machine only)"
)
_FAILED = f"the request to {{host}} failed ({{why}}); {SUPPORT}"

LASTING = Consequences(may_end_run=True)
TEMPORARY = replace(LASTING, is_retryable=True)
BUSY = replace(TEMPORARY, pauses_all=True)
SLOW = replace(TEMPORARY, may_be_split=True)
DOWN = replace(SLOW, pauses_all=True)
LARGE = replace(LASTING, may_be_range=True, may_be_split=True)
CURSOR = replace(LASTING, may_be_cursor=True)
GONE = replace(CURSOR, may_be_range=True)
REFUSED = replace(GONE, may_be_split=True)
NO_ACCESS = Consequences(may_be_access=True, may_be_range=True)
NO_CONNECTION = Consequences(ends_run=True, is_retryable=True)
WRONG_SETUP = Consequences(ends_run=True)

_RESPONSES: tuple[tuple[Collection[int], Consequences, str], ...] = (
    ({400, 422}, REFUSED, _FILTERS),
    ({401}, LASTING, _KEY),
    ({403}, NO_ACCESS, _ACCESS),
    ({404}, CURSOR, _NO_API),
    ({405}, LASTING, _NO_API),
    ({408}, SLOW, _REFUSED),
    ({409}, REFUSED, _REFUSED),
    ({410}, GONE, _REFUSED),
    ({413, 416}, LARGE, _TOO_LARGE),
    ({429}, BUSY, _FEWER),
    (range(400, 500), LASTING, _REFUSED),
    ({501, 505}, LASTING, _OVERLOADED),
    ({503}, DOWN, _OVERLOADED),
    (range(500, 1000), SLOW, _OVERLOADED),
    (range(400), LASTING, _NO_PAGE),
)
"""What follows from a status, and what to do. The first row with the status counts."""

_EXCEPTIONS: tuple[tuple[tuple[type[Exception], ...], Consequences, str], ...] = (
    ((exceptions.InvalidSchema,), WRONG_SETUP, _SOCKS),
    ((exceptions.InvalidURL, urllib3.LocationValueError), WRONG_SETUP, _ADDRESS),
    ((exceptions.ProxyError, urllib3.ProxyError), NO_CONNECTION, _PROXY),
    ((ssl.SSLCertVerificationError,), WRONG_SETUP, _CERTIFICATE),
    (
        (urllib3.NewConnectionError, urllib3.ConnectTimeoutError),
        NO_CONNECTION,
        _UNREACHABLE,
    ),
    ((TimeoutError, urllib3.TimeoutError, exceptions.Timeout), SLOW, _LATE),
    ((ConnectionResetError, urllib3.IncompleteRead, ssl.SSLEOFError), SLOW, _CUT),
    ((ssl.SSLError, urllib3.SSLError), NO_CONNECTION, _NO_TLS),
    ((Exception,), SLOW, _FAILED),
)
"""What follows from an exception, and what to do. The first row counts that holds for
the exception or for one that it wraps."""


def explain_no_response(
    error: requests.RequestException, url: str, seconds: float, secret: Secret
) -> StreamError:
    """Explain why there is no response.

    Args:
        error: The error that a request raised.
        url: The request's address.
        seconds: The request's timeout.
        secret: Hides the key.

    Returns:
        The error to raise, without a full stop.
    """
    causes = [*_causes(error)]
    consequences, text = next(
        (consequences, text)
        for classes, consequences, text in _EXCEPTIONS
        if any(isinstance(cause, classes) for cause in causes)
    )
    host = secret.summarize(urlsplit(url).netloc)
    # The words of a server or a proxy may hold the key in another encoding.
    message = text.format(host=host, seconds=seconds, why=secret.quote(_reason(causes)))
    reason = Reason.NO_CONNECTION if consequences.ends_run else Reason.NO_RESPONSE
    return StreamError(message, reason=reason, **vars(consequences))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all errors that it wraps."""
    yield error
    for inner in (*error.args, getattr(error, "reason", None), error.__cause__):
        if isinstance(inner, BaseException):
            yield from _causes(inner)


def _reason(causes: list[BaseException]) -> str:
    """Return the reason that Python or the system gives."""
    for cause in causes:
        if not isinstance(cause, (requests.RequestException, urllib3.HTTPError)):
            reason = getattr(cause, "strerror", None) or str(cause)
            return re.sub(r"^\[.*?\] | \(_ssl.*", "", reason)
    return "no reason was given"


def explain_no_page(
    response: requests.Response,
    server_time: int | None,
    secret: Secret,
    problem: Exception | None = None,
) -> StreamError:
    """Explain a response that is not a page of records.

    Args:
        response: The response, with its complete body.
        server_time: When the request arrived, see `ServerClock.note`.
        secret: Hides the key.
        problem: What `Page` raised, if the status is 200.

    Returns:
        The error to raise. Its message says what happened, then what the server says
        about it, shortened, unless that may hold records, and then what to do.
    """
    status = response.status_code
    if problem:
        what = f"the response is not a page of records ({secret.quote(problem)})"
        consequences, advice = SLOW, f"{SUPPORT}, or {_ROOT}"
    else:
        what = f"HTTP {status} {secret.quote(response.reason or '')}".rstrip()
        consequences, advice = next(
            (consequences, advice)
            for statuses, consequences, advice in _RESPONSES
            if status in statuses
        )
    body = response.content[:_MAX_BYTES].decode(errors="replace")
    # What is neither about an error nor HTML may hold records.
    is_data = status < requests.codes.multiple_choices and body.lstrip()[:1] != "<"
    words = "" if is_data else secret.quote(body)
    return StreamError(
        f"{what}: {words and f'{words}; '}{advice}",
        status=status,
        reason=Reason.NOT_A_PAGE if problem else None,
        retry_after=retry_after(response.headers),
        server_time=server_time,
        **vars(consequences),
    )
