"""Ways in which the API can be made to misbehave, and when they apply."""

import asyncio
import json
import socket
import struct
from random import Random
from typing import Any, ClassVar, Literal

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.query import Page, Query

_JSON = "application/json"


class Fault(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, dict=True):
    """What goes wrong, and when.

    Attributes:
        kind: What happens, one of `kinds`.
        stream: Only requests to this stream's endpoint; every one when null.
        pages: Only these pages of a cursor chain, counted from 1.
        skip: How many matching requests pass first.
        times: Largest number of requests struck; unlimited when null.
        rate: Share of the matching requests that are struck.
        seed: Seed of the draws for `rate`.
        status: Status code, for the kind of that name.
        headers: More headers of the response, likewise.
        body: Body of the response, likewise: text, or any other JSON.
        seconds: How long `hang` takes.
    """

    kind: str
    stream: str | None = None
    pages: Literal["first", "middle", "last"] | list[int] | None = None
    skip: int = 0
    times: int | None = None
    rate: float = 1.0
    seed: int = 1
    status: int = 500
    headers: dict[str, str] = {}
    body: Any = '{"error": "injected by the sandbox"}'
    seconds: float = 60.0

    kinds: ClassVar[dict[str, Any]] = {}
    """What answers a request that each kind of fault strikes; filled below."""

    def __post_init__(self) -> None:
        """Check that the fault can strike at all."""
        if self.kind not in self.kinds or self.stream not in (None, *ENDPOINTS):
            msg = f"the fault's kind is not one of {', '.join(self.kinds)}, or its "
            msg += f"stream not one of {', '.join(ENDPOINTS)}"
            raise ValueError(msg)
        self._random, self._seen, self._struck = Random(self.seed), 0, 0

    def strikes(self, query: Query, page: Page) -> bool:
        """Say whether the fault strikes an answer, and count it."""
        if self._struck == self.times or not self._is_meant_for(query, page):
            return False
        self._seen += 1
        if self._seen <= self.skip or self._random.random() >= self.rate:
            return False
        self._struck += 1
        return True

    def _is_meant_for(self, query: Query, page: Page) -> bool:
        number, is_last = query.cursor.page, not page.next
        if self.stream not in (None, query.shelf.endpoint.stream):
            return False
        if isinstance(self.pages, list):
            return number in self.pages
        is_middle = number > 1 and not is_last
        places = {"first": number == 1, "middle": is_middle, "last": is_last}
        return self.pages is None or places[self.pages]

    def respond(self, query: Query, page: Page) -> ASGIApp:
        """Give what answers a query in the fault's own way, instead of a page."""
        answer: ASGIApp = self.kinds[self.kind](self, query, page)
        return answer


def page_response(page: Page) -> Response:
    """Answer with a page as it should be."""
    return Response(page.encode(), media_type=_JSON)


def _status(fault: Fault, _query: Query, _page: Page) -> ASGIApp:
    content = fault.body if isinstance(fault.body, str) else json.dumps(fault.body)
    return Response(content, fault.status, {"Content-Type": _JSON, **fault.headers})


def _truncate(_fault: Fault, _query: Query, page: Page) -> ASGIApp:
    content = page.encode()
    return Response(content[: len(content) // 2], media_type=_JSON)


def _empty_page(_fault: Fault, query: Query, _page: Page) -> ASGIApp:
    following = query.cursor_at(query.cursor.page + 1, query.cursor.after)
    return page_response(Page([], following.token()))


def _reset(_fault: Fault, _query: Query, _page: Page) -> ASGIApp:
    async def reset(scope: Scope, receive: Receive, _send: Send) -> None:
        transport: asyncio.Transport = scope["state"]["transport"]
        # Lingering for 0 seconds makes closing discard what is unsent, and reset.
        told = socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(*told)
        transport.abort()
        await disconnected(receive)

    return reset


def _hang(fault: Fault, _query: Query, page: Page) -> ASGIApp:
    async def hang(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await asyncio.wait_for(disconnected(receive), fault.seconds)
        except TimeoutError:
            await page_response(page)(scope, receive, send)

    return hang


async def disconnected(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


Fault.kinds = {
    "status": _status,
    "truncate": _truncate,
    "empty_page": _empty_page,
    "reset": _reset,
    "hang": _hang,
}
