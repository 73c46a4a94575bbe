"""The API itself: checks a request, finds its page, logs it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import replace
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tap_leadintent.sandbox.cursor import Cursor, bind, read_cursor
from tap_leadintent.sandbox.endpoints import BY_PATH
from tap_leadintent.sandbox.faults.bodies import error_body
from tap_leadintent.sandbox.faults.pages import page_response
from tap_leadintent.sandbox.faults.rules import Exchange, FaultRules
from tap_leadintent.sandbox.pages import read_page
from tap_leadintent.sandbox.query import Query, RefusedError, read_query
from tap_leadintent.sandbox.rate import Throttle
from tap_leadintent.sandbox.world import World

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from tap_leadintent.sandbox.endpoints import Endpoint
    from tap_leadintent.sandbox.options import Options
    from tap_leadintent.sandbox.pages import Page

_LOG_LENGTH = 20_000


class Logged(msgspec.Struct):
    """A request to the API.

    Attributes:
        number: Position since the log was cleared, from 1.
        time: When it arrived, in seconds of the server's monotonic clock.
        method: Its method.
        path: Its path.
        stream: The stream that the path belongs to, if any.
        body: Its body, null unless it was JSON.
        after: Whether it continued a chain.
        page: Number of the page in its chain, once known.
        fault: Name of the fault that struck it, if any.
        status: Status code of the response; null while none was sent.
        records: Number of records due on the page, once known.
    """

    number: int
    time: float
    method: str
    path: str
    stream: str | None = None
    body: Any = None
    after: bool = False
    page: int | None = None
    fault: str | None = None
    status: int | None = None
    records: int | None = None


class Api:
    """The API as an ASGI application.

    Attributes:
        world: What there is to read.
        faults: Faults in force.
        log: The latest requests.
    """

    def __init__(self, options: Options) -> None:
        """Start with a new world."""
        self.configure(options)

    def configure(self, options: Options) -> None:
        """Start anew: world, faults and log."""
        self.world = World(options)
        self.faults = FaultRules()
        self._throttle = Throttle(options.rate_limit)
        self.clear_log()

    def clear_log(self) -> None:
        """Forget all requests, and number from 1 again."""
        self.log: deque[Logged] = deque(maxlen=_LOG_LENGTH)
        self._arrived = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        self._arrived += 1
        entry = Logged(
            self._arrived, time.monotonic(), request.method, request.scope["path"]
        )
        self.log.append(entry)

        async def logging_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                entry.status = message["status"]
            await send(message)

        try:
            response = await self._respond(request, entry)
        except RefusedError as refused:
            content = msgspec.json.encode(error_body(refused.code, str(refused)))
            response = Response(
                content, refused.status, refused.headers, "application/json"
            )
        await response(scope, receive, logging_send)

    async def _respond(self, request: Request, entry: Logged) -> Response:
        content = await request.body()
        options = self.world.options
        if options.latency_seconds:
            await asyncio.sleep(options.latency_seconds)
        endpoint = self._admit(request)
        entry.stream = endpoint.stream
        try:
            entry.body = msgspec.json.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            message = "the body is not JSON"
            raise RefusedError(400, "invalid_json", message) from None
        self._throttle.admit()
        query = read_query(endpoint, entry.body, options.order)
        entry.after = query.after is not None
        start = self._start(query)
        page = self._read(query, start)
        entry.page, entry.records = start.page, len(page.bodies)
        exchange = Exchange(
            query,
            page,
            request.headers["authorization"],
            lambda: self._read(replace(query, start=None, end=None), start),
        )
        if (fault := self.faults.matching(exchange)) is None:
            return page_response(page)
        entry.fault = str(fault.__struct_config__.tag)
        return fault.respond(exchange)

    def _admit(self, request: Request) -> Endpoint:
        """Check everything but the body (API description: "Authentication")."""
        endpoint = BY_PATH.get(request.scope["path"])
        if endpoint is None:
            message = "there is no such path"
            raise RefusedError(404, "not_found", message)
        if request.method != "POST":
            message = "the method must be POST"
            raise RefusedError(405, "method_not_allowed", message, {"Allow": "POST"})
        expected = f"Bearer {self.world.options.api_key}"
        told = request.headers.get("authorization", "")
        if not compare_digest(told.encode(), expected.encode()):
            message = "the API key is missing or wrong"
            raise RefusedError(401, "unauthorized", message)
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind.lower() != "application/json":
            message = "the content type must be application/json"
            raise RefusedError(415, "unsupported_media_type", message)
        return endpoint

    def _start(self, query: Query) -> Cursor:
        binding = bind(query)
        if query.after is None:
            return Cursor(binding=binding)
        return read_cursor(query.after, binding)

    def _read(self, query: Query, start: Cursor) -> Page:
        shelf = self.world.shelves[query.endpoint.stream]
        return read_page(shelf, query, start, self.world.options)
