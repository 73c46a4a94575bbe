"""Sends a request and reads the answer, within bounds of time and size."""

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
from urllib3.exceptions import DecodeError, HTTPError

from tap_leadintent.api.connection import use_bounded_connections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from urllib3 import BaseHTTPResponse, PoolManager

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of a body, after decompression."""

_TRUST = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")


class BodyTooLargeError(requests.RequestException):
    """An answer is larger than any page can be."""


class TrustError(requests.RequestException):
    """The environment names certificates that cannot be read."""


class BoundedAdapter(HTTPAdapter):
    """Reads whole answers, and gives up on those that trickle in or never end."""

    def __init__(
        self,
        *,
        connections: int = 1,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Open nothing yet.

        Args:
            connections: How many are kept open.
            waiting: What sending a request and waiting for its answer happen in; it
                may end them with an exception.
        """
        super().__init__(pool_maxsize=connections)
        self._waiting = waiting

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Open connections that keep the bound of time.

        Args:
            args: As for `HTTPAdapter.init_poolmanager`.
            kwargs: Likewise.
        """
        super().init_poolmanager(*args, **kwargs)
        use_bounded_connections(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> PoolManager:
        """Open connections to a proxy that keep the bound of time.

        Args:
            proxy: The proxy's URL.
            kwargs: As for `HTTPAdapter.proxy_manager_for`.

        Returns:
            The manager of these connections.
        """
        manager: PoolManager = super().proxy_manager_for(proxy, **kwargs)
        use_bounded_connections(manager)
        return manager

    def send(  # noqa: PLR0913, PLR0917
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002
        timeout: Any = None,  # noqa: ANN401
        verify: bool | str = True,  # noqa: FBT001, FBT002
        cert: Any = None,  # noqa: ANN401
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send a request.

        Args:
            request: The request.
            stream: Not used: the body is always read.
            timeout: Seconds that bound the connection and the whole answer alike.
            verify: As for `HTTPAdapter.send`, like the rest.
            cert: A client certificate.
            proxies: Proxies by scheme.

        Returns:
            The response, its body read and decompressed.

        Raises:
            requests.RequestException: As `HTTPAdapter.send`; BodyTooLargeError.
        """
        with self._waiting():
            response = super().send(
                request,
                stream=True,
                timeout=timeout,
                verify=verify,
                cert=cert,
                proxies=proxies,
            )
            response.raw = _Body(_whole(response.raw, request))
        return response


class _Body(io.BytesIO):
    """A body that `requests` takes as it is, rather than copy it in small pieces."""

    def stream(self, *_args: object, **_kwargs: object) -> Iterator[bytes]:
        yield self.read()


def _whole(raw: BaseHTTPResponse, request: requests.PreparedRequest) -> bytes:
    try:
        return _read(raw)
    except requests.RequestException as error:
        error.request = request
        raise
    except DecodeError as error:
        raise requests.exceptions.ContentDecodingError(
            error, request=request
        ) from error
    except (HTTPError, OSError) as error:
        raise requests.exceptions.ChunkedEncodingError(
            error, request=request
        ) from error
    finally:
        raw.close()


def _read(raw: BaseHTTPResponse) -> bytes:
    body = raw.read(LARGEST_BODY + 1, decode_content=True)
    if len(body) > LARGEST_BODY:
        most = LARGEST_BODY / 2**20
        msg = f"the answer is larger than {most:g} MiB; lower page_size"
        raise BodyTooLargeError(msg)
    return body


class _Session(requests.Session):
    """Follows no redirect, not even in thought: their addresses may be nonsense."""

    def get_redirect_target(self, resp: requests.Response) -> None:  # noqa: ARG002
        return None


def new_session(adapter: HTTPAdapter) -> requests.Session:
    """Open a session.

    Args:
        adapter: Keeps the connections; other threads' sessions may share it.

    Returns:
        The session, for one thread.
    """
    # Else each answer with a malformed header would be worth a traceback.
    logging.getLogger("urllib3.connection").setLevel(logging.ERROR)
    session = _Session()
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def environment(url: str) -> dict[str, Any]:
    """Read the environment's proxies and trusted certificates for an address.

    `requests` does so only for requests that it prepares itself, and does not know
    `SSL_CERT_FILE`.

    Args:
        url: The address.

    Returns:
        Arguments for `Session.send`.

    Raises:
        TrustError: A variable names what holds no certificates.
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
            why = error.strerror or "no certificate in it"
            msg = (
                f"{name} names no readable file of certificates, {path} ({why}); set "
                "it to a file in PEM format"
            )
            raise TrustError(msg) from error
    with requests.Session() as session:
        merge = session.merge_environment_settings
        found = {**merge(url, {}, None, path or None, None)}
    if urlsplit(url).scheme == "http":
        # Only this machine is asked without TLS; a proxy would read the key.
        found["proxies"] = {}
    return found
