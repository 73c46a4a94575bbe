"""Sends a request and reads the complete response, within limits of time and size."""

import io
import os
from pathlib import Path
from ssl import PROTOCOL_TLS_CLIENT, SSLContext

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from typing_extensions import override

from tap_leadintent.api.limits import Limits
from tap_leadintent.singer.errors import ConfigError

_CHUNK = 2**16
"""Bytes that are read at once."""


class TooLargeError(Exception):
    """The body is larger than `Limits.largest_body`, which the text shows."""


class _Session(requests.Session):
    @override
    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None: no redirect is followed, and an invalid one is not an error."""


def exchange(
    session: requests.Session,
    request: requests.Request,
    seconds: float,
    limits: Limits,
) -> tuple[requests.Response, bytes]:
    """Send a request and read the complete response.

    Args:
        session: The session; threads may share it.
        request: The request; the session's headers and cookies are added.
        seconds: How long the response may take.
        limits: What else bounds it.

    Returns:
        The response, and its body.

    Raises:
        requests.RequestException: There is no complete response.
        urllib3.exceptions.HTTPError: The same.
        TooLargeError: The body is too large.
    """
    end = limits.monotonic() + seconds
    # The session does not prepare the request: that is not safe for several threads.
    # A load balancer may bind cursors to one machine by a cookie.
    request.headers = session.headers
    request.cookies = session.cookies
    try:
        response = session.send(
            request.prepare(),
            stream=True,
            timeout=(min(seconds, limits.longest_connect), seconds),
        )
    except requests.ReadTimeout as error:
        # It did not wait for a response yet, so it was the TLS handshake.
        if limits.monotonic() < end:
            raise requests.ConnectTimeout(error) from error
        raise
    try:
        content = _read_body(response, end, limits)
    finally:
        response.raw.close()
    return response, content


def _read_body(
    response: requests.Response,
    end: float,
    limits: Limits,
) -> bytes:
    """Read a body until a time of the monotonic clock."""
    body = io.BytesIO()
    # Other ways to read keep each chunk of a chunked body until the end.
    while chunk := response.raw.read1(_CHUNK, decode_content=True):
        body.write(chunk)
        if body.tell() > limits.largest_body:
            mebibytes = limits.largest_body >> 20
            raise TooLargeError(f"more than {mebibytes} MiB")
        if limits.monotonic() > end:
            raise requests.ReadTimeout
    return body.getvalue()


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
    session = _Session()
    adapter = HTTPAdapter(pool_maxsize=connections)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # Otherwise the session would read the environment again for each request.
    session.trust_env = False
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
        path = os.environ.get(variable)
        if not path:
            continue
        try:
            if not Path(path).is_dir():
                SSLContext(PROTOCOL_TLS_CLIENT).load_verify_locations(path)
        except OSError:
            problem = (
                f"{variable} names {path}, which cannot be loaded; it must be a "
                "file of certificates in PEM format, or a folder of such files"
            )
            raise ConfigError(problem) from None
        return path
    return True
