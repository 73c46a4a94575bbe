"""What an answer of the API means: a page, a passing trouble, or a refusal.

API description: "Errors". Status codes and error bodies are not shown there, so this
goes by what HTTP says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import requests
from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent.api.page import Page
from tap_leadintent.errors import RefusedError

if TYPE_CHECKING:
    from tap_leadintent.redaction import Secret

_RETRIED = frozenset({408, 429})

_ADVICE = {
    401: "the API refused the key; set api_key to a valid key, made in the dashboard "
    "under Developer -> API Keys",
    402: "the organization's plan does not pay for this; ask whoever manages it",
    403: "this key may not read this endpoint; deselect the stream, or ask for access",
    404: "nothing answers at this address; check base_url, which is the root of the "
    "API without /v1",
    405: "the address takes no POST; check base_url",
    415: "the address takes no JSON; check base_url",
}


def read_page(response: requests.Response, secret: Secret) -> Page:
    """Accept a page, and nothing else.

    Args:
        response: Any response, read whole.
        secret: Hides the key in messages.

    Returns:
        The page.

    Raises:
        RetriableAPIError: Another try may give the page.
        RefusedError: It would be refused again; the message says what to do.
    """
    status = response.status_code
    if status == requests.codes.ok:
        try:
            return Page.of(response)
        except ValueError as error:
            said = secret.summarize(response.text) or "nothing"
            msg = f"no page of records ({secret.summarize(error)}) but: {said}"
            raise RetriableAPIError(msg, response) from None
    if status in _RETRIED or status >= requests.codes.server_error:
        raise RetriableAPIError(describe(response, secret), response)
    raise RefusedError(describe(response, secret), status)


def describe(response: requests.Response, secret: Secret) -> str:
    """Say what a status other than 200 means.

    Args:
        response: The response.
        secret: Hides the key.

    Returns:
        The status, what to do, and the server's own words, bounded.
    """
    status = response.status_code
    told = f"HTTP {status} {secret.summarize(response.reason or '')}".rstrip()
    if response.is_redirect:
        host = secret.summarize(_host(response.headers["Location"]))
        where = f" to {host}" if host else ""
        return f"{told}: redirects{where} are not followed; check base_url"
    said = secret.summarize(response.text)
    return ": ".join(part for part in (told, _ADVICE.get(status), said) if part)


def _host(location: str) -> str:
    try:
        return urlsplit(location).netloc.rpartition("@")[2]
    except ValueError:
        return ""
