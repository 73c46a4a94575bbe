"""Sends a request and reads the whole response, within limits of time and size."""

import io
import os
import time
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from typing_extensions import override
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from tap_leadintent.errors import Reason, StreamError

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of a body, after decompression. More would let a bad response fill the memory;
fewer might refuse pages of 100 large records."""

_PIECE = 2**16
"""Bytes that are read at once. More would take more memory beside the body; fewer take
longer."""


class BoundedAdapter(HTTPAdapter):
    """Reads whole responses, and gives up on bodies that are too slow or too large."""

    @override
    def send(self, request: requests.PreparedRequest, *_: Any, **options: Any) -> Any:
        end = time.monotonic() + options["timeout"]
        response = super().send(request, **{**options, "stream": True})
        # Read by `requests`, it would be copied from pieces.
        response._content = _whole(response.raw, end)  # noqa: SLF001
        # It would be read, though it is not followed, and it may be invalid.
        response.headers.pop("Location", None)
        return response


def _whole(raw: BaseHTTPResponse, end: float) -> bytes:
    body = io.BytesIO()
    try:
        # Other ways to read go on as long as bytes come, or keep each chunk of a
        # chunked body as an object until the end.
        while piece := raw.read1(_PIECE, decode_content=True):
            body.write(piece)
            if body.tell() > LARGEST_BODY:
                most = f"{LARGEST_BODY >> 20} MiB"
                msg = f"the response is larger than {most}; lower page_size"
                raise StreamError(msg, reason=Reason.TOO_LARGE)
            if time.monotonic() > end:
                raise requests.ReadTimeout
    except HTTPError as error:
        raise requests.ConnectionError(error) from error
    finally:
        raw.close()
    return body.getvalue()


def new_session(url: str, connections: int) -> requests.Session:
    """Open a session for one host.

    Args:
        url: An address there, to see which proxies of the environment are for it.
        connections: How many it keeps.

    Returns:
        The session; threads may share it, as it is not asked to prepare requests.
    """
    session, adapter = requests.Session(), BoundedAdapter(pool_maxsize=connections)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # Else it would read the environment again for each request.
    session.trust_env = False
    # With plain HTTP, a proxy could read the key; it is allowed for loopback only.
    if url.lower().startswith("https:"):
        session.proxies = get_environ_proxies(url)
    return session


def trusted() -> str | bool:
    """Read from the environment which certificates to trust.

    `requests` does so only for requests that it prepares itself, and ignores
    `SSL_CERT_FILE`.

    Returns:
        The argument `verify` for `Session.send`.

    Raises:
        StreamError: A variable names a path that does not exist.
    """
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        if path := os.environ.get(name):
            if not Path(path).exists():
                msg = f"{name} names no file of certificates: there is no {path}"
                raise StreamError(msg, reason=Reason.NO_CONNECTION)
            return path
    return True
