"""Sends a request and reads the answer, within bounds of time and size."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import DecodeError, HTTPError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3 import BaseHTTPResponse

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of a body, after decompression."""

_CHUNK = 64 * 1024


class BodyTooLargeError(requests.RequestException):
    """An answer is larger than any page can be."""


class BoundedAdapter(HTTPAdapter):
    """Reads whole answers, and gives up on those that trickle in or never end."""

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
            timeout: Seconds that bound the connection, each pause, and the whole
                answer alike.
            verify: As for `HTTPAdapter.send`, like the rest.
            cert: A client certificate.
            proxies: Proxies by scheme.

        Returns:
            The response, its body read and decompressed.

        Raises:
            requests.RequestException: As `HTTPAdapter.send`; BodyTooLargeError.
        """
        deadline = time.monotonic() + timeout
        response = super().send(
            request,
            stream=True,
            timeout=timeout,
            verify=verify,
            cert=cert,
            proxies=proxies,
        )
        try:
            body = _read(response.raw, deadline)
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
            response.raw.close()
        response.raw = io.BytesIO(body)
        return response


def _read(raw: BaseHTTPResponse, deadline: float) -> bytes:
    body = bytearray()
    while chunk := raw.read1(_CHUNK, decode_content=True):
        body += chunk
        if len(body) > LARGEST_BODY:
            msg = f"the answer is larger than {LARGEST_BODY // 2**20} MiB"
            raise BodyTooLargeError(msg)
        if time.monotonic() > deadline:
            msg = "the answer did not arrive whole in time"
            raise requests.exceptions.ReadTimeout(msg)
    return bytes(body)


def new_session() -> requests.Session:
    """Open a session that keeps the bounds.

    Returns:
        The session, for one thread.
    """
    session = requests.Session()
    session.mount("https://", BoundedAdapter())
    session.mount("http://", BoundedAdapter())
    return session
