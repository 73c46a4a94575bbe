"""Explains the responses of the API that are not pages, and says what to do.

API description: "Errors". It shows no status codes and no error bodies, so this module
follows the HTTP standard.
"""

from collections.abc import Collection

import requests
from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent.errors import IF_IT_GOES_ON, RefusedError
from tap_leadintent.log import Secret

_RETRIED = frozenset({408, 429, *range(500, 1000)} - {501, 505})

_INVALID = frozenset({400, 422})
"""Statuses with which a server may refuse a request field that it does not know."""

_MOST_BYTES = 2**20
"""Bytes of a body that are decoded for a message. More takes longer and shows
nothing more; fewer might hide a part of the server's message."""

_ROOT = "check base_url, which is the root of the API without /v1"
_NOT_ACCEPTED = "the API does not accept the request"
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


def failure(
    response: requests.Response, secret: Secret, doubtful: Collection[str] = ()
) -> RetriableAPIError | RefusedError:
    """Explain a status other than 200.

    Args:
        response: The response, read whole.
        secret: Hides the key.
        doubtful: Dotted names of settings that the API may not accept.

    Returns:
        The error to raise. A `RetriableAPIError` if a retry may give a page, else a
        `RefusedError`. Its message has the status, what to do, and the server's own
        message, shortened.
    """
    status = response.status_code
    told = f"HTTP {status} {secret.quote(response.reason or '')}".rstrip()
    told = f"{told}: {_ADVICE.get(status) or _advice_for_others(status)}"
    if status in _INVALID and doubtful:
        names = secret.summarize(", ".join(doubtful))
        told += f"; the API description does not show {names}: check or remove it"
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
