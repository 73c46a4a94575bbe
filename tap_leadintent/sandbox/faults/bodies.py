"""Faults that answer over sound HTTP, with a body that is not a page."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response, StreamingResponse

from tap_leadintent.sandbox.faults.rules import Exchange, Fault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_JSON = "application/json"
_INJECTED = "injected by the sandbox"
_BLOCK = 1 << 16
# A client that reads all of it finds an envelope, and a silent end.
_PADDED = b'{"data":[],"cursor":{"next":"","has_more":false},"padding":"'

_GATEWAY_PAGE = """<!DOCTYPE html>
<html><head><title>Please wait</title></head>
<body><h1>Checking your browser</h1></body></html>
"""


def error_body(code: str, message: str) -> dict[str, Any]:
    """Give the error object that the sandbox answers refusals with."""
    return {"error": {"code": code, "message": message}}


def _text(body: object) -> str:
    return body if isinstance(body, str) else json.dumps(body)


class Status(Fault, tag="status"):
    """Another status code, with any headers and any body."""

    status: int = 500
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    body: Any = msgspec.field(default_factory=lambda: error_body("fault", _INJECTED))
    content_type: str = _JSON

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with the status."""
        headers = {"Content-Type": self.content_type, **self.headers}
        return Response(_text(self.body), self.status, headers)


class Body(Fault, tag="body"):
    """A 200 with the given text, or with JSON."""

    body: Any
    content_type: str = _JSON

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with the body."""
        return Response(_text(self.body), media_type=self.content_type)


class ErrorIn200(Fault, tag="error_in_200"):
    """A 200 whose body is an error object."""

    error: Any = msgspec.field(
        default_factory=lambda: {"code": "fault", "message": _INJECTED}
    )

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with the error."""
        return Response(_text({"error": self.error}), media_type=_JSON)


class Html(Fault, tag="html"):
    """A 200 with the HTML page of some gateway."""

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with the page."""
        return Response(_GATEWAY_PAGE, media_type="text/html")


class EmptyBody(Fault, tag="empty_body"):
    """A 200 without any body."""

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with nothing."""
        return Response(b"", media_type=_JSON)


class Truncate(Fault, tag="truncate"):
    """Sound HTTP, but the JSON is cut in half."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with half of the page."""
        content = exchange.page.encode()
        return Response(content[: len(content) // 2], media_type=_JSON)


class Undecodable(Fault, tag="undecodable"):
    """A body that claims to be gzip and is not."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with the page and a wrong `Content-Encoding`."""
        headers = {"Content-Encoding": "gzip"}
        return Response(exchange.page.encode(), headers=headers, media_type=_JSON)


class Redirect(Fault, tag="redirect"):
    """A redirect to the given address."""

    location: str
    status: int = 302

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with the redirect."""
        return Response(None, self.status, {"Location": self.location})


class EchoKey(Fault, tag="echo_key"):
    """An error whose body and header `X-Echo` repeat the `Authorization` header."""

    status: int = 400

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with the key in plain sight."""
        told = exchange.authorization
        content = _text(error_body("bad_request", f"cannot serve {told}"))
        return Response(content, self.status, {"X-Echo": told}, media_type=_JSON)


class ExpireCursor(Fault, tag="expire_cursor"):
    """A request that continues a chain is refused."""

    status: int = 410

    def matches(self, exchange: Exchange) -> bool:
        """Say whether the exchange continues a chain, and matches."""
        return exchange.query.after is not None and super().matches(exchange)

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer that the cursor has expired."""
        content = _text(error_body("cursor_expired", "the cursor has expired"))
        return Response(content, self.status, media_type=_JSON)


class Huge(Fault, tag="huge"):
    """A page envelope padded to a number of bytes, streamed without a length."""

    bytes: int = 100_000_000

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with all of it."""
        return StreamingResponse(_padded(self.bytes), media_type=_JSON)


class Bomb(Fault, tag="bomb"):
    """A small gzip body that inflates to a number of bytes."""

    bytes: int = 100_000_000

    def respond(self, _exchange: Exchange, /) -> Response:
        """Answer with the compressed body."""
        headers = {"Content-Encoding": "gzip"}
        return StreamingResponse(
            _squeezed(self.bytes), headers=headers, media_type=_JSON
        )


async def _padded(size: int) -> AsyncIterator[bytes]:
    yield _PADDED
    left = size - len(_PADDED) - 2
    while left > 0:
        block = b"x" * min(left, _BLOCK)
        left -= len(block)
        yield block
    yield b'"}'


async def _squeezed(size: int) -> AsyncIterator[bytes]:
    gzip = zlib.compressobj(wbits=31)
    async for block in _padded(size):
        if squeezed := gzip.compress(block):
            yield squeezed
    yield gzip.flush()
