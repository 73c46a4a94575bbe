"""Explains what is no page: what happened, and what to do.

API description: "Errors". It shows no status codes and no error bodies, so this module
follows the HTTP standard. The messages of `requests` and urllib3 are not shown: they
name pools and objects.
"""

import re
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import requests
from singer_sdk.exceptions import RetriableAPIError
from urllib3.exceptions import MaxRetryError

from tap_leadintent.errors import IF_IT_GOES_ON, RefusedError
from tap_leadintent.log import Secret

_RETRIED = frozenset({408, 429, *range(500, 1000)} - {501, 505})

_MOST_BYTES = 2**20
"""Bytes of a body that are decoded for a message. More takes longer and shows
nothing more; fewer might hide a part of the server's message."""

_ROOT = "check base_url, which is the root of the API without /v1"
_NOT_ACCEPTED = "the API does not accept the request; check filters, if they are set"
_NO_API = f"nothing answers at this address as the API does; {_ROOT}"

_ADVICE = {
    400: _NOT_ACCEPTED,
    401: "the API refused the key; set api_key to a valid key, made in the dashboard "
    "under Developer -> API Keys",
    402: "the organization's plan does not include this; ask its administrator",
    403: "this key may not read this endpoint; deselect the stream, or ask for access",
    404: _NO_API,
    405: _NO_API,
    415: _NO_API,
    422: _NOT_ACCEPTED,
    429: "the API wants fewer requests; set max_requests_per_minute, or lower it",
    501: _NO_API,
}


_MEANINGS = {
    "ProxyError|InvalidSchema|InvalidURL": "the proxy does not pass requests on "
    "({why}); check HTTPS_PROXY or ALL_PROXY, with user and password where the proxy "
    "wants them, and NO_PROXY",
    "SSLCertVerificationError": "the server's certificate is not trusted ({host}: "
    "{why}); check base_url, or set REQUESTS_CA_BUNDLE if the certificate is your own",
    "gaierror": "the host {host} cannot be looked up ({why}); check base_url, and this "
    "machine's network",
    "ConnectionRefusedError": "{host} refuses connections; check host and port in "
    "base_url, and whether the API is up",
    "NewConnectionError|ConnectTimeoutError": "{host} cannot be reached ({why}); check "
    "base_url, this machine's network, and the firewalls on the way",
    "TimeoutError|Timeout": "the answer of {host} did not arrive whole within "
    "{seconds:g} s; raise request_timeout_seconds, or lower page_size or concurrency",
    "ConnectionResetError|IncompleteRead|SSLEOFError": "{host} broke off its answer; "
    f"{IF_IT_GOES_ON}, or lower page_size",
    "SSLError": "{host} does not speak TLS ({why}); check the port in base_url, and "
    "whether it should begin with http:// (for this machine only)",
    "Exception": f"the request to {{host}} failed ({{why}}); {IF_IT_GOES_ON}",
}
"""By names of classes: what to say. The first that fits any cause of an error is
used."""


def explain(error: Exception, url: str, seconds: float, secret: Secret) -> str:
    """Explain an error.

    Args:
        error: The error that a request raised.
        url: The request's address.
        seconds: The request's timeout.
        secret: Hides the key.

    Returns:
        What happened and what to do, safe to be shown, without a full stop.
    """
    causes = [*_causes(error)]
    kinds = {kind.__name__ for cause in causes for kind in type(cause).__mro__}
    text = next(_MEANINGS[key] for key in _MEANINGS if kinds & {*key.split("|")})
    host = secret.summarize(urlsplit(url).netloc)
    # What a server or a proxy said may hold the key in another spelling.
    why = secret.quote(_reason(causes))
    return text.format(host=host, seconds=seconds, why=why)


def is_without_connection(error: Exception) -> bool:
    """Tell whether a request failed before it could be sent.

    Args:
        error: Any error.

    Returns:
        Whether the connection could not be made.
    """
    # What fails later is not wrapped in it, as the adapter's `Retry` has it.
    return any(isinstance(inner, MaxRetryError) for inner in error.args)


def is_distrust(error: Exception) -> bool:
    """Tell whether the server's certificate was refused, so that no retry helps.

    Args:
        error: Any error.

    Returns:
        Whether it was refused.
    """
    return any(isinstance(e, ssl.SSLCertVerificationError) for e in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error and the errors that it wraps."""
    yield error
    for inner in (*error.args, getattr(error, "reason", None), error.__cause__):
        if isinstance(inner, BaseException):
            yield from _causes(inner)


def _reason(causes: list[BaseException]) -> str:
    """Give the system's reason, not that of `requests` or urllib3."""
    for cause in causes:
        if type(cause).__module__.partition(".")[0] not in {"requests", "urllib3"}:
            told = getattr(cause, "strerror", None) or str(cause)
            return re.sub(r"^\[.*?\] | \(_ssl.*", "", told)
    return "no reason was given"


def failure(
    response: requests.Response, secret: Secret
) -> RetriableAPIError | RefusedError:
    """Explain a status other than 200.

    Args:
        response: The response, read whole.
        secret: Hides the key.

    Returns:
        The error to raise. A `RetriableAPIError` if a retry may give a page, else a
        `RefusedError`. Its message has the status, what to do, and the server's own
        message, shortened.
    """
    status = response.status_code
    told = f"HTTP {status} {secret.quote(response.reason or '')}".rstrip()
    told = f"{told}: {_ADVICE.get(status) or _advice_for_others(status)}"
    told = _with_words(told, response, secret)
    if status in _RETRIED:
        return RetriableAPIError(told, response)
    return RefusedError(told, status)


def not_a_page(
    response: requests.Response, difference: ValueError, secret: Secret
) -> RetriableAPIError:
    """Explain a response with status 200 that is not a page.

    Args:
        response: The response, read whole.
        difference: What `Page` raised.
        secret: Hides the key.

    Returns:
        The error to raise; a retry may give a page.
    """
    told = (
        f"the response is not a page of records ({secret.quote(difference)}); "
        f"{IF_IT_GOES_ON}, or {_ROOT}"
    )
    return RetriableAPIError(_with_words(told, response, secret), response)


def _advice_for_others(status: int) -> str:
    if status >= requests.codes.server_error:
        return (
            "the API, or a gateway before it, is down or overloaded; lower "
            f"concurrency, or try later; {IF_IT_GOES_ON}"
        )
    if status >= requests.codes.bad_request:
        return f"the API refused the request; {IF_IT_GOES_ON}"
    return f"this is no page, and redirects are not followed; {_ROOT}"


def _with_words(told: str, response: requests.Response, secret: Secret) -> str:
    """Add the server's own message."""
    words = secret.quote(response.content[:_MOST_BYTES].decode(errors="replace"))
    return f"{told}: {words}" if words else told
