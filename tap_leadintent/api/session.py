"""Sends a request and reads the whole response, within limits of time and size."""

from __future__ import annotations

import io
import logging
import os
import ssl
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from typing_extensions import override
from urllib3.exceptions import DecodeError, HTTPError

from tap_leadintent.api.connection import use_bounded_connections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from urllib3 import BaseHTTPResponse, PoolManager

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
    """Reads whole responses, and gives up on those that are too slow or too large."""

    def __init__(
        self,
        *,
        pool_maxsize: int = 1,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Set the adapter up; connections are opened later.

        Args:
            pool_maxsize: How many are kept open.
            waiting: Gives a context in which a request is sent and its response is
                awaited; it may end the wait with an exception.
        """
        super().__init__(pool_maxsize=pool_maxsize)
        self._waiting = waiting

    @override
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        use_bounded_connections(self.poolmanager)

    @override
    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> PoolManager:
        manager: PoolManager = super().proxy_manager_for(proxy, **kwargs)
        use_bounded_connections(manager)
        return manager

    @override
    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        # `stream` is not used: the body is always read whole.
        with self._waiting():
            response = super().send(
                request,
                stream=True,
                timeout=timeout,
                verify=verify,
                cert=cert,
                proxies=proxies,
            )
            response.raw = _whole(response.raw)
        return response


class _Body(io.BytesIO):
    """A body that `requests` takes in one piece, instead of copying small ones."""

    def stream(self, *_args: object, **_kwargs: object) -> Iterator[bytes]:
        yield self.getvalue()


def _whole(raw: BaseHTTPResponse) -> _Body:
    body = _Body()
    try:
        # `read` would keep each chunk of a chunked body as an object until the end.
        while body.tell() <= LARGEST_BODY and (
            piece := raw.read1(_PIECE, decode_content=True)
        ):
            body.write(piece)
    except DecodeError as error:
        raise requests.exceptions.ContentDecodingError(error) from error
    except (HTTPError, OSError) as error:
        raise requests.exceptions.ChunkedEncodingError(error) from error
    finally:
        raw.close()
    if body.tell() > LARGEST_BODY:
        most = LARGEST_BODY / 2**20
        msg = f"the response is larger than {most:g} MiB; lower page_size"
        raise BodyTooLargeError(msg)
    return body


class _Session(requests.Session):
    """Ignores redirects; their addresses, which `requests` parses, may be invalid."""

    @override
    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


def new_session(adapter: HTTPAdapter) -> requests.Session:
    """Open a session.

    Args:
        adapter: Keeps the connections; other threads' sessions may share it.

    Returns:
        The session, for one thread.
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
    name, path = next(
        ((name, path) for name in _TRUST if (path := os.environ.get(name))), ("", "")
    )
    if path and url.startswith("https:"):
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
    with requests.Session() as session:
        merge = session.merge_environment_settings
        found = {**merge(url, {}, None, path or None, None)}
    if urlsplit(url).scheme == "http":
        # A proxy could read the key. Plain HTTP is allowed for loopback only.
        found["proxies"] = {}
    return found
