"""Sends a request and reads the complete response, within limits of time and size."""

import io
import os
import socket
import time
from http.client import HTTPResponse
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from typing_extensions import override
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError, LocationValueError

from tap_leadintent.errors import ConfigError, Reason, StreamError

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of a body, after decompression. With a higher value, a bad response could fill
the memory. A lower one might refuse pages of 100 large records."""

_CHUNK = 2**16
"""Bytes that are read at once. A higher value takes more memory beside the body; a
lower one takes more time."""


class BoundedAdapter(HTTPAdapter):
    """Reads complete responses, and fails where they are too slow or too large."""

    @override
    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        # Which class connects depends on the proxy, and is first known here.
        connection = pool.ConnectionCls
        if not issubclass(connection, _Deadline):
            pool.ConnectionCls = type("TimedConnection", (_Deadline, connection), {})
        return pool

    @override
    def send(self, request: requests.PreparedRequest, *_: Any, **options: Any) -> Any:
        try:
            response = super().send(request, **{**options, "stream": True})
            # `requests` would read the body in chunks, and copy them.
            response._content = _read_body(response.raw)  # noqa: SLF001
        except LocationValueError as error:
            raise requests.exceptions.InvalidURL(error) from error
        except HTTPError as error:
            raise requests.ConnectionError(error) from error
        # `requests` would read this header, though it does not follow it, and fail if
        # it is invalid.
        response.headers.pop("Location", None)
        return response


def _read_body(raw: BaseHTTPResponse) -> bytes:
    body = io.BytesIO()
    try:
        # Other ways to read keep each chunk of a chunked body until the end.
        while chunk := raw.read1(_CHUNK, decode_content=True):
            body.write(chunk)
            if body.tell() > LARGEST_BODY:
                raise StreamError(
                    f"the response is larger than {LARGEST_BODY >> 20} MiB; "
                    "lower page_size",
                    reason=Reason.TOO_LARGE,
                    may_be_split=True,
                    may_end_run=True,
                )
    finally:
        raw.close()
    return body.getvalue()


class _Deadline:
    """Makes a connection give up on a response that is not complete in time.

    The timeout of a socket begins again with each byte that arrives. A server could
    send one byte at a time for ever, in a body as well as in what is around it: the
    status line, headers, `100 Continue`, chunks' headers and trailers, and a proxy's
    answer to `CONNECT`. All of it is read through `response_class`.
    """

    timeout: float

    def response_class(self, sock: socket.socket, **options: Any) -> HTTPResponse:
        response = HTTPResponse(sock, **options)
        end = time.monotonic() + self.timeout
        # All reads of the response call this method of the file below its buffer.
        file: Any = response.fp.raw
        read_into = file.readinto

        def read_in_time(buffer: object) -> int | None:
            if time.monotonic() > end:
                raise TimeoutError
            count: int | None = read_into(buffer)
            return count

        file.readinto = read_in_time
        return response


def new_session(url: str, connections: int) -> requests.Session:
    """Open a session for one host.

    Args:
        url: An address there, to see which proxies of the environment are for it.
        connections: How many it keeps.

    Returns:
        The session; threads may share it, as it is not asked to prepare requests.

    Raises:
        ConfigError: The environment names a path without certificates.
    """
    session, adapter = requests.Session(), BoundedAdapter(pool_maxsize=connections)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # Otherwise the session would read the environment again for each request.
    session.trust_env = False
    # Cookies would never be sent, and a server could fill the memory with them.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    # With plain HTTP, a proxy could read the key; it is allowed for loopback only.
    if url.lower().startswith("https:"):
        session.proxies = get_environ_proxies(url)
        session.verify = _trusted_certificates()
    return session


def _trusted_certificates() -> str | bool:
    """Return which certificates the environment says to trust, as `Session.verify`.

    `requests` ignores `SSL_CERT_FILE`, and the others in a session like this one.
    """
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        if path := os.environ.get(variable):
            try:
                if not Path(path).is_dir():
                    SSLContext(PROTOCOL_TLS_CLIENT).load_verify_locations(path)
            except OSError:
                problem = (
                    f"{variable} names {path}, which cannot be loaded; it must be a "
                    "file of certificates in PEM format, or a folder of such files"
                )
                raise ConfigError([problem]) from None
            return path
    return True
