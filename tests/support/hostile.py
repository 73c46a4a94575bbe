"""The sandbox with rarer faults: `python -m tests.support.hostile`."""

# ruff: noqa: ARG001 - each kind of fault is called in the same way

from __future__ import annotations

import asyncio
import json
import zlib
from dataclasses import replace
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
from tap_leadintent.sandbox.query import EVER, Page
from tap_leadintent.sandbox.world import Shelf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from tap_leadintent.sandbox.endpoints import Axis
    from tap_leadintent.sandbox.query import Query
    from tap_leadintent.sandbox.world import Row

    Kind = Callable[["RareFault", Query, Page], ASGIApp]

_JSON = "application/json"
_PADDED = b'{"data":[],"cursor":{"next":"","has_more":false},"padding":"'


class RareFault(Fault):
    """A fault of the sandbox, or one of these, with what they take."""

    bytes: int = 100_000_000
    next: str | None = ""
    location: str = ""

    kinds: ClassVar[dict[str, Any]] = {}


def kind(strike: Kind) -> Kind:
    """Know a kind of fault by its name."""
    RareFault.kinds = {**Fault.kinds, **RareFault.kinds, strike.__name__: strike}
    return strike


def promising(page: Page, **cursor: str | None) -> Response:
    """Answer with the page, and a promise of more."""
    told = json.loads(page.encode())
    return Response(json.dumps({**told, "cursor": {**cursor, "has_more": True}}))


@kind
def empty_body(fault: RareFault, _: Query, __: Page) -> ASGIApp:
    return respond_with(fault, 200, "")


@kind
def error_in_200(fault: RareFault, _: Query, __: Page) -> ASGIApp:
    return respond_with(fault, 200, {"error": {"message": "injected by the sandbox"}})


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
def no_next(fault: RareFault, query: Query, page: Page) -> ASGIApp:
    if fault.next == "absent":
        return promising(page)
    return promising(page, next=fault.next)


@kind
def cycle(_: RareFault, query: Query, page: Page) -> ASGIApp:
    return promising(page, next=query.cursor_at(1, None).token())


@kind
def same_cursor(_: RareFault, query: Query, page: Page) -> ASGIApp:
    return promising(page, next=query.cursor.token())


@kind
def ignore_range(_: RareFault, query: Query, page: Page) -> ASGIApp:
    query.range = EVER
    return page_response(query.page())


@kind
def duplicate(_: RareFault, query: Query, page: Page) -> ASGIApp:
    return page_response(Page(page.bodies + page.bodies[:1], page.next))


@kind
def missing_id(_: RareFault, query: Query, page: Page) -> ASGIApp:
    """Put a record that has no id before the others."""
    record = json.loads(page.bodies[0])
    del record["id"]
    return page_response(Page([json.dumps(record).encode(), *page.bodies], page.next))


@kind
def huge(fault: RareFault, _: Query, __: Page) -> ASGIApp:
    """Stream a page that is padded to so many bytes, without a length."""
    return StreamingResponse(padded(fault.bytes), media_type=_JSON)


@kind
def bomb(fault: RareFault, _: Query, __: Page) -> ASGIApp:
    """Send a small gzip body that inflates to so many bytes."""
    headers = {"Content-Encoding": "gzip"}
    return StreamingResponse(squeezed(fault.bytes), 200, headers, _JSON)


async def padded(size: int) -> AsyncIterator[bytes]:
    yield _PADDED
    left = size - len(_PADDED) - 2
    for begin in range(0, left, 1 << 16):
        yield b"x" * min(left - begin, 1 << 16)
    yield b'"}'


async def squeezed(size: int) -> AsyncIterator[bytes]:
    gzip = zlib.compressobj(wbits=31)
    async for block in padded(size):
        yield gzip.compress(block)
    yield gzip.flush()


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


class AtEachSignal(Shelf):
    """A shelf whose records are shown at each of their signals, in its range."""

    def __init__(self, query: Query) -> None:
        vars(self).update(vars(query.shelf))
        self._range = query.range

    def rows(self, axis: Axis) -> list[Row]:
        if axis == "found":
            return super().rows(axis)
        start, end = self._range
        shown = {}
        for entry in self.entries.values():
            known, changes = self.life(entry.index)
            for version in range(entry.version + 1):
                if version:
                    _, latest = next(changes)
                    known = replace(known, version=version, latest=latest)
                if start <= known.latest <= end:
                    shown[known.id] = known
        return sorted((known.latest, known.id, known) for known in shown.values())


@kind
def each_signal(_: RareFault, query: Query, page: Page) -> ASGIApp:
    """Show each record at its last signal in the range that is asked for."""
    query.shelf = AtEachSignal(query)
    return page_response(query.page())


class Hostile(App):
    """The sandbox, with these faults too."""

    fault_type = RareFault


if __name__ == "__main__":
    main(app=Hostile)
