"""Explains a request that got no response: what happened, and what to do.

The messages of `requests` and urllib3 are not shown: they name pools and objects.
"""

from __future__ import annotations

import re
import ssl
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from requests.utils import get_environ_proxies, select_proxy
from urllib3.exceptions import MaxRetryError

from tap_leadintent.api.session import BodyTooLargeError, TrustError
from tap_leadintent.errors import IF_IT_GOES_ON

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.log import Secret

_MEANINGS = {
    "InvalidSchema|InvalidURL": "HTTPS_PROXY or ALL_PROXY is not the address of a "
    "proxy; set it to one such as http://proxy.example.com:8080",
    "ProxyError": "the proxy {proxy} does not pass requests on ({why}); check "
    "HTTPS_PROXY or ALL_PROXY, with user and password where the proxy wants them, and "
    "NO_PROXY",
    "SSLCertVerificationError": "the server's certificate is not trusted ({host}: "
    "{why}); check base_url, or set REQUESTS_CA_BUNDLE if the certificate is your own",
    "gaierror": "the host {host} cannot be looked up ({why}); check base_url, and this "
    "machine's network",
    "ConnectionRefusedError": "{host} refuses connections; check host and port in "
    "base_url, and whether the API is up",
    "NewConnectionError": "{host} cannot be reached ({why}); check base_url, and this "
    "machine's network",
    "ConnectTimeoutError": "{host} accepted no connection within {seconds:g} s; check "
    "base_url, this machine's network, and the firewalls on the way",
    "TimeoutError|Timeout": "the answer of {host} did not arrive whole within "
    "{seconds:g} s; raise request_timeout_seconds, or lower page_size or concurrency",
    "WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE": "{host} does not speak TLS; check the "
    "port in base_url, and whether it should begin with http:// (for this machine "
    "only)",
    "\x15\x03|\x16\x03": "{host} speaks TLS; base_url must begin with https://",
    "ConnectionResetError|IncompleteRead": "{host} broke off its answer; "
    f"{IF_IT_GOES_ON}, or lower page_size",
    "Exception": f"the request to {{host}} failed ({{why}}); {IF_IT_GOES_ON}",
}
"""By names of classes, OpenSSL's reasons, or first bytes of what is no HTTP: what to
say. The first that fits any cause of an error is used."""


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
    if isinstance(error, (BodyTooLargeError, TrustError)):
        return secret.summarize(error)
    host = urlsplit(url).netloc.rpartition("@")[2]
    if proxy := _proxy(url):
        host = f"{host} (through the proxy {proxy})"
    causes = [*_causes(error)]
    marks = {mark for cause in causes for mark in _marks(cause)}
    text = next(_MEANINGS[key] for key in _MEANINGS if marks & {*key.split("|")})
    parts = {"host": host, "proxy": proxy}
    shown = {name: secret.summarize(part) for name, part in parts.items()}
    # What a server or a proxy said may hold the key in another spelling.
    why = secret.quote(_reason(causes))
    return text.format(seconds=seconds, why=why, **shown)


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


def _marks(cause: BaseException) -> Iterator[str]:
    yield from (kind.__name__ for kind in type(cause).__mro__)
    yield str(getattr(cause, "reason", ""))
    yield str(cause)[:2]


def _proxy(url: str) -> str:
    """Give host and port of the proxy for an address, empty without a proxy."""
    if urlsplit(url).scheme == "http":
        return ""  # See `session.environment`.
    proxy = select_proxy(url, get_environ_proxies(url)) or ""
    # A user and a password may stand before it.
    return proxy.rpartition("//")[2].rpartition("@")[2].partition("/")[0]


def _reason(causes: list[BaseException]) -> str:
    """Give the system's reason, not that of `requests` or urllib3."""
    for cause in causes:
        if type(cause).__module__.partition(".")[0] not in {"requests", "urllib3"}:
            told = getattr(cause, "strerror", None) or str(cause)
            return re.sub(r"^\[.*?\] | \(_ssl.*", "", told)
    return "no reason was given"
