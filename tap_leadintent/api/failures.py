"""Explains failed requests: what happened, what to do, and whether to retry.

API description: "Errors". It shows no status codes and no error bodies, so this module
follows the HTTP standard. The messages of `requests` and urllib3 are not shown, because
they name connection pools and Python objects.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import requests

from tap_leadintent.api.limits import retry_after
from tap_leadintent.errors import SUPPORT, Reason, StreamError
from tap_leadintent.singer.log import Secret

_RETRIED = frozenset({408, 429, *range(500, 1000)} - {501, 505})

_MAX_BYTES = 2**20
"""Bytes of a body that are decoded for a message. A higher value would take longer and
add nothing to the message. A lower one might hide a part of what the server says."""

_ROOT = "check base_url, which is the root of the API without /v1"
_NOT_ACCEPTED = "the API does not accept the request; check filters, if they are set"
_TOO_LARGE = "the request or its time range is too large for the API; lower window_days"
_NO_API = f"the API was not found at this address; {_ROOT}"

_ADVICE = {
    400: _NOT_ACCEPTED,
    401: "the API refused the key; set api_key to a valid key, created in the "
    "dashboard under Developer -> API Keys",
    403: "this key may not read this endpoint; deselect the stream, or ask for access",
    404: _NO_API,
    405: _NO_API,
    413: _TOO_LARGE,
    416: _TOO_LARGE,
    422: _NOT_ACCEPTED,
    429: "the API wants fewer requests; set max_requests_per_minute, or lower it",
    4: f"the API refused the request; {SUPPORT}",
    5: "the API, or a gateway before it, is down or overloaded; lower concurrency, or "
    f"try later; {SUPPORT}",
}
"""What to do, by the status or else by its first digit."""

_NOT_A_PAGE = f"this is not a page of records, and redirects are not followed; {_ROOT}"

_MESSAGES = {
    "InvalidSchema": "a SOCKS proxy is set, which needs another package: pip install "
    "'requests[socks]'",
    "InvalidURL": "there is no such address; check base_url, HTTPS_PROXY and ALL_PROXY",
    "ProxyError": "the proxy does not forward requests ({why}); check HTTPS_PROXY or "
    "ALL_PROXY, with user and password if the proxy needs them, and NO_PROXY",
    "SSLCertVerificationError": "the server's certificate is not trusted ({host}: "
    "{why}); check base_url, or set REQUESTS_CA_BUNDLE if the certificate is your own",
    "NewConnectionError|ConnectTimeoutError": "{host} cannot be reached ({why}); check "
    "base_url, this machine's network, and the firewalls on the way",
    "TimeoutError|Timeout": "the response of {host} was not complete within "
    "{seconds:g} s; raise request_timeout_seconds, or lower page_size or concurrency",
    "ConnectionResetError|IncompleteRead|SSLEOFError": "{host} ended its response "
    f"early; {SUPPORT}, or lower page_size",
    "SSLError": "{host} does not speak TLS ({why}); check the port in base_url, and "
    "whether it should begin with http:// (for this machine only)",
    "Exception": f"the request to {{host}} failed ({{why}}); {SUPPORT}",
}
"""Messages by the names of exception classes. The order matters: the first one that
matches any cause of an error is used."""

# As `HTTPAdapter` retries nothing by default, what fails after a connection was made is
# not wrapped in a `MaxRetryError`. The others are about the proxy's address.
_NO_CONNECTION = {"MaxRetryError", "InvalidSchema", "InvalidURL"}
_PASSING = {"ConnectionError", "Timeout"}


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
    kinds = {kind.__name__ for cause in causes for kind in type(cause).__mro__}
    text = next(_MESSAGES[key] for key in _MESSAGES if kinds & {*key.split("|")})
    host = secret.summarize(urlsplit(url).netloc)
    # The words of a server or a proxy may hold the key in another encoding.
    message = text.format(host=host, seconds=seconds, why=secret.quote(_reason(causes)))
    reason = Reason.NO_CONNECTION if kinds & _NO_CONNECTION else Reason.NO_RESPONSE
    is_retryable = bool(kinds & _PASSING) and "SSLCertVerificationError" not in kinds
    return StreamError(
        message,
        reason=reason,
        is_retryable=is_retryable,
        may_be_split=reason is Reason.NO_RESPONSE,
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all errors that it wraps."""
    yield error
    for inner in (*error.args, getattr(error, "reason", None), error.__cause__):
        if isinstance(inner, BaseException):
            yield from _causes(inner)


def _reason(causes: list[BaseException]) -> str:
    """Return the reason that Python or the system gives."""
    for cause in causes:
        if type(cause).__module__.partition(".")[0] not in {"requests", "urllib3"}:
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
        advice = f"{SUPPORT}, or {_ROOT}"
    else:
        what = f"HTTP {status} {secret.quote(response.reason or '')}".rstrip()
        advice = _ADVICE.get(status) or _ADVICE.get(min(status // 100, 5), _NOT_A_PAGE)
    body = response.content[:_MAX_BYTES].decode(errors="replace")
    # What is neither about an error nor HTML may hold records.
    is_data = status < requests.codes.multiple_choices and body.lstrip()[:1] != "<"
    words = "" if is_data else secret.quote(body)
    return StreamError(
        f"{what}: {words and f'{words}; '}{advice}",
        status=status,
        reason=Reason.NOT_A_PAGE if problem else None,
        is_retryable=bool(problem) or status in _RETRIED,
        may_be_cursor=status in {400, 404, 409, 410, 422},
        may_be_range=status in {400, 403, 409, 410, 413, 416, 422},
        may_be_split=bool(problem) or status >= 500,
        retry_after=retry_after(response.headers),
        server_time=server_time,
    )
