"""Explains a request that got no response: what happened, and what to do.

The messages of `requests` and urllib3 are not shown: they name pools and objects.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import requests.exceptions as upper
import urllib3.exceptions as lower
from requests.utils import get_environ_proxies, select_proxy

from tap_leadintent.api.session import BodyTooLargeError, TrustError
from tap_leadintent.api.timeout import NoAnswerError
from tap_leadintent.errors import IF_IT_GOES_ON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tap_leadintent.redaction import Secret

_WITHOUT_CONNECTION = (
    lower.ConnectTimeoutError,
    lower.NewConnectionError,
    lower.ProxyError,
    lower.SSLError,
)

_TLS_RECORD = ("\x15\x03", "\x16\x03")
"""First characters of a TLS alert or handshake, seen where HTTP was expected."""

_NO_TLS = frozenset(
    {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"}
)
"""OpenSSL's names for a response that is not TLS."""


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
    host = urlsplit(url).netloc.rpartition("@")[2]
    proxy = _proxy(url)
    if proxy:
        host = f"{host} (through the proxy {proxy})"
    causes = [*_causes(error)]
    for meaning in _MEANINGS:
        for cause in causes:
            if not isinstance(cause, meaning.kinds):
                continue
            why = meaning.why(cause) if meaning.why else ""
            if why is not None:
                parts = {"host": host, "proxy": proxy, "why": why}
                shown = {name: secret.summarize(part) for name, part in parts.items()}
                return meaning.text.format(seconds=seconds, **shown)
    raise AssertionError  # The last meaning fits any error.


def is_without_connection(error: Exception) -> bool:
    """Tell whether a request failed before it could be sent.

    Args:
        error: Any error.

    Returns:
        Whether the connection could not be made.
    """
    inner = error.args[0] if error.args else None
    return isinstance(getattr(inner, "reason", None), _WITHOUT_CONNECTION)


def is_distrust(error: Exception) -> bool:
    """Tell whether the server's certificate was refused, so that no retry helps.

    Args:
        error: Any error.

    Returns:
        Whether it was refused.
    """
    return any(isinstance(e, ssl.SSLCertVerificationError) for e in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error and the errors that it wraps, outermost first."""
    waiting, seen = [error], set[int]()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        inner = (getattr(cause, "reason", None), cause.__cause__, cause.__context__)
        waiting += [e for e in (*cause.args, *inner) if isinstance(e, BaseException)]


def _proxy(url: str) -> str:
    """Give host and port of the proxy for an address, empty without a proxy."""
    if urlsplit(url).scheme == "http":
        return ""  # See `session.environment`.
    proxy = select_proxy(url, get_environ_proxies(url)) or ""
    # A user and a password may stand before it.
    return proxy.rpartition("//")[2].rpartition("@")[2].partition("/")[0]


def _system(error: BaseException) -> str:
    """Give the operating system's reason for a failed connection."""
    found = [e.strerror for e in _causes(error) if isinstance(e, OSError)]
    return next(filter(None, found), "no reason was given")


def _certificate(error: BaseException) -> str:
    message = getattr(error, "verify_message", "") or "it cannot be verified"
    return str(message).rstrip(".")


def _no_tls(error: BaseException) -> str | None:
    return "" if getattr(error, "reason", None) in _NO_TLS else None


def _tls(error: BaseException) -> str:
    reason = getattr(error, "reason", None) or "it broke off"
    return str(reason).replace("_", " ").lower()


def _of_proxy(error: BaseException) -> str:
    inner = error.args[-1]
    if isinstance(inner, lower.NameResolutionError):
        return "its name is not known"
    if isinstance(inner, lower.NewConnectionError):
        return _system(inner)
    if isinstance(inner, lower.TimeoutError):
        return "it does not answer in time"
    if isinstance(inner, (lower.SSLError, ssl.SSLError)):
        return "it does not speak TLS; should its address begin with http://?"
    # What the proxy says, such as "407 Proxy Authentication Required".
    return str(inner).rpartition("failed: ")[2]


def _handshake(error: BaseException) -> str | None:
    return "" if "handshake" in str(error) else None


def _tls_instead(error: BaseException) -> str | None:
    return "" if str(error).startswith(_TLS_RECORD) else None


class _Meaning(NamedTuple):
    """The message for a kind of error."""

    kinds: type[BaseException] | tuple[type[BaseException], ...]
    text: str
    why: Callable[[BaseException], str | None] | None = None
    """Gives the `{why}` of the text, or None where the text does not fit the error."""


_MEANINGS = (
    _Meaning((BodyTooLargeError, TrustError), "{why}", str),
    _Meaning(
        upper.InvalidSchema,
        "HTTPS_PROXY or ALL_PROXY names a SOCKS proxy, which needs another package: "
        "pip install 'requests[socks]'",
    ),
    _Meaning(
        upper.InvalidURL,
        "HTTPS_PROXY or ALL_PROXY is not the address of a proxy; set it to one such as "
        "http://proxy.example.com:8080",
    ),
    _Meaning(
        lower.ProxyError,
        "the proxy {proxy} does not pass requests on ({why}); check HTTPS_PROXY or "
        "ALL_PROXY, with user and password where the proxy wants them, and NO_PROXY",
        _of_proxy,
    ),
    _Meaning(
        ssl.SSLCertVerificationError,
        "the server's certificate is not trusted ({host}: {why}); check base_url, or "
        "set REQUESTS_CA_BUNDLE if the certificate is your own",
        _certificate,
    ),
    _Meaning(
        socket.gaierror,
        "the host {host} cannot be looked up ({why}); check base_url, and this "
        "machine's network",
        _system,
    ),
    _Meaning(
        ConnectionRefusedError,
        "{host} refuses connections; check host and port in base_url, and whether the "
        "API is up",
    ),
    _Meaning(
        lower.NewConnectionError,
        "{host} cannot be reached ({why}); check base_url, and this machine's network",
        _system,
    ),
    _Meaning(
        TimeoutError,
        "{host} did not finish the TLS handshake within {seconds:g} s; check that the "
        "port in base_url speaks TLS",
        _handshake,
    ),
    _Meaning(
        lower.ConnectTimeoutError,
        "{host} accepted no connection within {seconds:g} s; check base_url, this "
        "machine's network, and the firewalls on the way",
    ),
    _Meaning(
        NoAnswerError,
        "{host} did not begin to answer within {seconds:g} s; raise "
        "request_timeout_seconds, or lower page_size or concurrency",
    ),
    _Meaning(
        (TimeoutError, lower.TimeoutError, upper.Timeout),
        "the answer of {host} did not arrive whole within {seconds:g} s; raise "
        "request_timeout_seconds, or lower page_size or concurrency",
    ),
    _Meaning(
        upper.ContentDecodingError,
        f"the answer of {{host}} cannot be decompressed; {IF_IT_GOES_ON}",
    ),
    _Meaning(
        upper.ChunkedEncodingError,
        f"{{host}} broke off its answer; {IF_IT_GOES_ON}, or lower page_size",
    ),
    _Meaning(
        ssl.SSLError,
        "{host} does not speak TLS; check the port in base_url, and whether it should "
        "begin with http:// (for this machine only)",
        _no_tls,
    ),
    _Meaning(
        ssl.SSLError,
        "the TLS handshake with {host} failed ({why}); check base_url, and proxies and "
        "firewalls on the way",
        _tls,
    ),
    _Meaning(
        (http.client.RemoteDisconnected, ConnectionError),
        "{host} closed the connection without a response; check whether base_url "
        f"should begin with https or http; {IF_IT_GOES_ON}",
    ),
    _Meaning(
        http.client.BadStatusLine,
        "{host} speaks TLS; base_url must begin with https://",
        _tls_instead,
    ),
    _Meaning(
        http.client.HTTPException,
        "{host} does not answer in HTTP ({why}); check base_url",
        str,
    ),
    _Meaning(
        BaseException,
        f"the request to {{host}} failed ({{why}}); {IF_IT_GOES_ON}",
        _system,
    ),
)
"""The first one that fits is used."""
