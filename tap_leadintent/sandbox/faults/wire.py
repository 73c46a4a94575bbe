"""Faults of the connection: broken, silent or slow."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from tap_leadintent.sandbox.faults.pages import page_response
from tap_leadintent.sandbox.faults.rules import Exchange, Fault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send


class Reset(Fault, tag="reset"):
    """The connection is reset (TCP RST) before any byte of a response."""

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with a reset."""
        return _Reset()


class Drop(Fault, tag="drop"):
    """The connection is closed in the middle of the body."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with half of what `Content-Length` promises."""
        return _Drop(exchange.page.encode(), media_type="application/json")


class Hang(Fault, tag="hang"):
    """Nothing is answered for some seconds; then the page, if one still listens."""

    seconds: float = 60.0

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer late."""
        return _Hang(self.seconds, page_response(exchange.page))


class Drip(Fault, tag="drip"):
    """The right body, `bytes` at a time every `seconds`."""

    bytes: int = 1
    seconds: float = 1.0

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer slowly."""
        content = exchange.page.encode()
        return StreamingResponse(
            _drops(content, self.bytes, self.seconds),
            headers={"Content-Length": str(len(content))},
            media_type="application/json",
        )


class _Reset(Response):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        transport: asyncio.Transport = scope["state"]["transport"]
        # Lingering for 0 seconds makes closing discard what is unsent, and reset.
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger
        )
        transport.abort()
        await _disconnected(receive)


class _Drop(Response):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        half = bytes(self.body)[: len(self.body) // 2]
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        await send({"type": "http.response.body", "body": half, "more_body": True})
        transport: asyncio.Transport = scope["state"]["transport"]
        transport.close()
        await _disconnected(receive)


class _Hang(Response):
    def __init__(self, seconds: float, late: Response) -> None:
        super().__init__()
        self._seconds = seconds
        self._late = late

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await asyncio.wait_for(_disconnected(receive), self._seconds)
        except TimeoutError:
            await self._late(scope, receive, send)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _drops(content: bytes, size: int, seconds: float) -> AsyncIterator[bytes]:
    for position in range(0, len(content), size):
        yield content[position : position + size]
        await asyncio.sleep(seconds)
