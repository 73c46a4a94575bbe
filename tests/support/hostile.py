"""The sandbox with rarer faults: `python -m tests.support.hostile`."""

# ruff: noqa: ARG001 - each kind of fault is called in the same way

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, ClassVar

from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse

from tap_leadintent.sandbox.__main__ import main
from tap_leadintent.sandbox.app import App
from tap_leadintent.sandbox.faults import (
    Fault,
    disconnected,
    page_response,
    respond_with,
)
from tap_leadintent.sandbox.query import Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from tap_leadintent.sandbox.query import Query

    Kind = Callable[["RareFault", Query, Page], ASGIApp]

_JSON = "application/json"
_PADDED = b'{"data":[],"cursor":{"next":"","has_more":false},"padding":"'


class RareFault(Fault):
    """A fault of the sandbox, or one of these, with what they take."""

    bytes: int = 100_000_000
    location: str = ""

    kinds: ClassVar[dict[str, Any]] = {}


def kind(strike: Kind) -> Kind:
    """Know a kind of fault by its name."""
    RareFault.kinds = {**Fault.kinds, **RareFault.kinds, strike.__name__: strike}
    return strike


@kind
def undecodable(_: RareFault, query: Query, page: Page) -> ASGIApp:
    return Response(page.encode(), headers={"Content-Encoding": "gzip"})


@kind
def redirect(fault: RareFault, _: Query, __: Page) -> ASGIApp:
    return Response(None, fault.status or 302, {"Location": fault.location})


@kind
def echo_key(fault: RareFault, query: Query, page: Page) -> ASGIApp:
    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope)["authorization"]
        fault.headers["X-Echo"] = key
        told = {"error": {"message": f"cannot serve {key}"}}
        await respond_with(fault, 400, told)(scope, receive, send)

    return echo


@kind
def no_next(_: RareFault, query: Query, page: Page) -> ASGIApp:
    """Promise more without a cursor."""
    told = json.loads(page.encode())
    return Response(json.dumps({**told, "cursor": {"next": "", "has_more": True}}))


@kind
def duplicate(_: RareFault, query: Query, page: Page) -> ASGIApp:
    return page_response(Page(page.bodies + page.bodies[:1], page.next))


@kind
def huge(fault: RareFault, _: Query, __: Page) -> ASGIApp:
    """Stream a page that is padded to so many bytes, without a length."""
    return StreamingResponse(padded(fault.bytes), media_type=_JSON)


async def padded(size: int) -> AsyncIterator[bytes]:
    yield _PADDED
    left = size - len(_PADDED) - 2
    for begin in range(0, left, 1 << 16):
        yield b"x" * min(left - begin, 1 << 16)
    yield b'"}'


@kind
def drip(fault: RareFault, query: Query, page: Page) -> ASGIApp:
    """Send the right body, so many bytes at a time, with a pause after each."""
    content = page.encode()

    async def drops() -> AsyncIterator[bytes]:
        for position in range(0, len(content), fault.bytes):
            yield content[position : position + fault.bytes]
            await asyncio.sleep(fault.seconds)

    headers = {"Content-Length": str(len(content))}
    return StreamingResponse(drops(), 200, headers, _JSON)


@kind
def drop(_: RareFault, query: Query, page: Page) -> ASGIApp:
    """Close the connection in the middle of the body."""
    whole = page_response(page)

    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200}
        await send({**start, "headers": whole.raw_headers})
        body = bytes(whole.body)[: len(whole.body) // 2]
        await send({"type": "http.response.body", "body": body, "more_body": True})
        scope["state"]["transport"].close()
        await disconnected(receive)

    return half


class Hostile(App):
    """The sandbox, with these faults too."""

    fault_type = RareFault


if __name__ == "__main__":
    main(app=Hostile)
