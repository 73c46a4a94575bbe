"""Sends a request and reads the whole response, within limits of time and size."""

from __future__ import annotations

import io
import logging
import os
import ssl
import time
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from typing_extensions import override
from urllib3.exceptions import HTTPError

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of a body, after decompression. More would let a bad response fill the memory;
fewer might refuse pages of 100 large records."""

_PIECE = 2**16
"""Bytes that are read at once. More would take more memory beside the body; fewer take
longer."""

_TRUST = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")


class BodyTooLargeError(requests.RequestException):
    """A response is larger than a page may be."""


class TrustError(requests.RequestException):
    """The environment names certificates that cannot be read."""


class BoundedAdapter(HTTPAdapter):
    """Reads whole responses, and gives up on bodies that are too slow or too large."""

    @override
    def send(self, request: requests.PreparedRequest, *_: Any, **options: Any) -> Any:
        end = time.monotonic() + options["timeout"]
        response = super().send(request, **{**options, "stream": True})
        response.raw = _whole(response.raw, end)
        return response


class _Body(io.BytesIO):
    """A body that `requests` takes in one piece, instead of copying small ones."""

    def stream(self, *_args: object, **_kwargs: object) -> list[bytes]:
        return [self.getvalue()]


def _whole(raw: BaseHTTPResponse, end: float) -> _Body:
    body = _Body()
    try:
        # Other ways to read go on as long as bytes come, or keep each chunk of a
        # chunked body as an object until the end.
        while piece := raw.read1(_PIECE, decode_content=True):
            body.write(piece)
            if body.tell() > LARGEST_BODY:
                most = f"{LARGEST_BODY >> 20} MiB"
                msg = f"the response is larger than {most}; lower page_size"
                raise BodyTooLargeError(msg)
            if time.monotonic() > end:
                raise requests.ReadTimeout
    except HTTPError as error:
        raise requests.exceptions.ChunkedEncodingError(error) from error
    finally:
        raw.close()
    return body


class _Session(requests.Session):
    """Ignores redirects; their addresses, which `requests` parses, may be invalid."""

    @override
    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


def new_session(adapter: HTTPAdapter) -> requests.Session:
    """Open a session.

    Args:
        adapter: Keeps the connections.

    Returns:
        The session; threads may share it, as it is not asked to prepare requests.
    """
    # At WARNING, urllib3 logs a traceback for each response with a malformed header.
    logging.getLogger("urllib3.connection").setLevel(logging.ERROR)
    session = _Session()
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def environment(url: str) -> dict[str, Any]:
    """Read proxies and trusted certificates for an address from the environment.

    `requests` does so only for requests that it prepares itself, and ignores
    `SSL_CERT_FILE`.

    Args:
        url: The address.

    Returns:
        Arguments for `Session.send`.

    Raises:
        TrustError: A variable names a path without certificates.
    """
    name = next(filter(os.environ.get, _TRUST), "")
    path = os.environ.get(name) or None
    is_secure = url.lower().startswith("https:")
    if path and is_secure:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(
                **{"capath" if os.path.isdir(path) else "cafile": path}  # noqa: PTH112
            )
        except OSError as error:
            why = error.strerror or "it holds no certificate"
            msg = (
                f"{name} names no readable file of certificates, {path} ({why}); set "
                "it to a file in PEM format"
            )
            raise TrustError(msg) from error
    found = requests.Session().merge_environment_settings(url, {}, None, path, None)
    # A proxy could read the key. Plain HTTP is allowed for loopback only.
    return {**found, "proxies": found["proxies"] if is_secure else {}}
