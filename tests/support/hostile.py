"""The sandbox with rarer faults: `python -m tests.support.hostile`."""

from __future__ import annotations

import asyncio
import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from starlette.responses import Response, StreamingResponse

from tap_leadintent.sandbox.__main__ import main
from tap_leadintent.sandbox.app import App
from tap_leadintent.sandbox.faults import (
    Fault,
    disconnected,
    page_response,
    respond_with,
)
from tap_leadintent.sandbox.query import EVER
from tap_leadintent.sandbox.world import Shelf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from tap_leadintent.sandbox.endpoints import Axis
    from tap_leadintent.sandbox.faults import Exchange
    from tap_leadintent.sandbox.query import Query
    from tap_leadintent.sandbox.world import Row

    Kind = Callable[["RareFault", Exchange], ASGIApp]

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


def promising(exchange: Exchange, **cursor: str | None) -> Response:
    """Answer with the page, and a promise of more."""
    told = json.loads(exchange.page.encode())
    return Response(json.dumps({**told, "cursor": {**cursor, "has_more": True}}))


def altered(exchange: Exchange, **changes: Any) -> Response:
    return page_response(msgspec.structs.replace(exchange.page, **changes))


def asking(exchange: Exchange, query: Query) -> Response:
    return page_response(query.read_page(exchange.shelf))


@kind
def empty_body(fault: RareFault, _: Exchange) -> ASGIApp:
    return respond_with(fault, 200, "")


@kind
def error_in_200(fault: RareFault, _: Exchange) -> ASGIApp:
    return respond_with(fault, 200, {"error": {"message": "injected by the sandbox"}})


@kind
def undecodable(_: RareFault, exchange: Exchange) -> ASGIApp:
    return Response(exchange.page.encode(), headers={"Content-Encoding": "gzip"})


@kind
def redirect(fault: RareFault, _: Exchange) -> ASGIApp:
    return Response(None, fault.status or 302, {"Location": fault.location})


@kind
def echo_key(fault: RareFault, exchange: Exchange) -> ASGIApp:
    fault.headers["X-Echo"] = exchange.authorization
    told = {"error": {"message": f"cannot serve {exchange.authorization}"}}
    return respond_with(fault, 400, told)


@kind
def no_next(fault: RareFault, exchange: Exchange) -> ASGIApp:
    if fault.next == "absent":
        return promising(exchange)
    return promising(exchange, next=fault.next)


@kind
def cycle(_: RareFault, exchange: Exchange) -> ASGIApp:
    return promising(exchange, next=exchange.query.cursor_at(1, None).token())


@kind
def same_cursor(_: RareFault, exchange: Exchange) -> ASGIApp:
    return promising(exchange, next=exchange.query.cursor.token())


@kind
def ignore_range(_: RareFault, exchange: Exchange) -> ASGIApp:
    exchange.query.range = EVER
    return asking(exchange, exchange.query)


@kind
def duplicate(_: RareFault, exchange: Exchange) -> ASGIApp:
    bodies = exchange.page.bodies
    return altered(exchange, bodies=bodies + bodies[:1])


@kind
def missing_id(_: RareFault, exchange: Exchange) -> ASGIApp:
    first, *others = exchange.page.bodies
    record = json.loads(first)
    del record["id"]
    return altered(exchange, bodies=[json.dumps(record).encode(), *others])


@kind
def huge(fault: RareFault, _: Exchange) -> ASGIApp:
    """Stream a page that is padded to so many bytes, without a length."""
    return StreamingResponse(padded(fault.bytes), media_type=_JSON)


@kind
def bomb(fault: RareFault, _: Exchange) -> ASGIApp:
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
def drip(fault: RareFault, exchange: Exchange) -> ASGIApp:
    """Send the right body, so many bytes at a time, with a pause after each."""
    content = exchange.page.encode()

    async def drops() -> AsyncIterator[bytes]:
        for position in range(0, len(content), fault.bytes):
            yield content[position : position + fault.bytes]
            await asyncio.sleep(fault.seconds)

    headers = {"Content-Length": str(len(content))}
    return StreamingResponse(drops(), 200, headers, _JSON)


@kind
def drop(_: RareFault, exchange: Exchange) -> ASGIApp:
    """Close the connection in the middle of the body."""
    whole = page_response(exchange.page)

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

    def __init__(self, shelf: Shelf, query: Query) -> None:
        vars(self).update(vars(shelf))
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
def each_signal(_: RareFault, exchange: Exchange) -> ASGIApp:
    """Show each record at its last signal in the range that is asked for."""
    shelf = AtEachSignal(exchange.shelf, exchange.query)
    return page_response(exchange.query.read_page(shelf))


class Hostile(App):
    """The sandbox, with these faults too."""

    fault_type = RareFault


if __name__ == "__main__":
    main(app=Hostile)
