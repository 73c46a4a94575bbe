"""The sandbox as one application: checks a request, finds its page, logs it."""

import asyncio
import inspect
import json
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
import uvicorn
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tap_leadintent.sandbox.endpoints import BY_PATH, ENDPOINTS, Endpoint
from tap_leadintent.sandbox.faults import Fault, page_response
from tap_leadintent.sandbox.options import Options
from tap_leadintent.sandbox.query import Query
from tap_leadintent.sandbox.times import SECOND, format_time, parse_time
from tap_leadintent.sandbox.world import Shelf, World

_LOG_LENGTH = 20_000
_CONTROL = "/_sandbox/"
_Ahead = Annotated[float, msgspec.Meta(ge=0, le=10 * 365 * 86_400)]


class Logged(msgspec.Struct):
    """A request to the API.

    Attributes:
        stream: The stream that its path belongs to, if any.
        body: Its body, null unless it was JSON.
        page: Number of the page in its chain, once known.
        fault: Kind of the fault that struck it, if any.
        status: Status code of the response; null while none was sent.
    """

    stream: str | None = None
    body: Any = None
    page: int | None = None
    fault: str | None = None
    status: int | None = None


class App:
    """The sandbox as an ASGI application.

    Attributes:
        options: What the sandbox was told.
        world: What there is to read.
        log: The latest requests.
    """

    def __init__(self, options: Options, faults: Sequence[Any] = ()) -> None:
        """Start with a new world, with faults until it is told others."""
        self._base = options
        self.configure(options)
        self.arm(faults)

    def configure(self, options: Options) -> None:
        """Start anew: world, log, and no faults."""
        self.options = options
        self.world = World(options)
        self.log: deque[Logged] = deque(maxlen=_LOG_LENGTH)
        self.arm()
        # A token bucket, which holds one second's worth and is full at first.
        self._tokens, self._checked = options.rate_limit or 0.0, time.monotonic()

    def arm(self, faults: Sequence[Any] = ()) -> None:
        """Put faults in force instead of all others; the first that matches strikes.

        Raises:
            msgspec.ValidationError: One of them is no fault.
        """
        self._faults = [msgspec.convert(each, Fault) for each in faults]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        self.world.tick()
        entry = Logged()
        try:
            response = await self._answer(Request(scope, receive), entry)
        except ConnectionResetError:
            _reset(scope["state"]["transport"])
            return
        entry.status = response.status_code
        date = formatdate(self.world.now // SECOND, usegmt=True)
        response.headers.setdefault("Date", date)
        await response(scope, receive, send)

    async def _answer(self, request: Request, entry: Logged) -> Response:
        status, headers = 400, None
        try:
            if request.url.path.startswith(_CONTROL):
                return await self._steer(request)
            self.log.append(entry)
            return await self._read(request, entry)
        except HTTPException as refused:
            status, headers = refused.status_code, refused.headers
            message = refused.detail
        except (TypeError, ValueError) as error:
            message = str(error)
        code = HTTPStatus(status).name.lower()
        content = json.dumps({"error": {"code": code, "message": message}})
        return Response(content, status, headers, "application/json")

    async def _steer(self, request: Request) -> Response:
        if "origin" in request.headers:
            message = "web pages may not steer the sandbox; send no Origin header"
            raise HTTPException(403, message)
        route = request.url.path.removeprefix(_CONTROL)
        handler = getattr(self, f"_{request.method.lower()}_{route}", None)
        if handler is None:
            raise HTTPException(404, "there is no such route")
        # The standard decoder also takes what stricter ones refuse: lone surrogates.
        told = json.loads(await request.body() or b"{}")
        arguments = inspect.signature(handler).bind(**request.query_params, **told)
        content = msgspec.json.encode(handler(*arguments.args, **arguments.kwargs))
        return Response(content, media_type="application/json")

    # The routes: arguments and answers are JSON, a ValueError is a refusal.

    def _get_clock(self) -> object:
        """Give the clock."""
        return {"now": format_time(self.world.now)}

    def _post_clock(self, advance_seconds: float) -> object:
        """Move the clock forward."""
        self.world.advance(msgspec.convert(advance_seconds, _Ahead) * SECOND)
        return self._get_clock()

    def _post_configure(self, **options: Any) -> object:
        """Start anew."""
        self.configure(self._base.changed(options))
        return self._get_clock()

    def _get_records(self, stream: str) -> object:
        """Give all records of a stream with their times."""
        shelf = self._shelf(stream)
        entries = [entry for _, _, entry in shelf.rows("found")]
        records = [msgspec.Raw(shelf.body(entry)) for entry in entries]
        return {"records": records, "times": {e.id: shelf.times(e) for e in entries}}

    def _post_records(
        self, stream: str, records: Sequence[Any] = (), **times: str
    ) -> object:
        """Insert or replace records, given as any JSON or as texts of JSON.

        A record replaces the one that has its `id`. Times are `found_at`,
        `observed_at` and `activity_at` (ISO 8601): when they appear, and the time of
        their latest signal or activity. They appear by default when the replaced one
        did, else now; their latest time is by default when they appear.
        """
        shelf = self._shelf(stream)
        if unknown := times.keys() - shelf.endpoint.times.values():
            msg = f"records of {stream} have no {min(unknown)}"
            raise ValueError(msg)
        told = {name: parse_time(time) for name, time in times.items()}
        return {"ids": [shelf.put(record, told) for record in records]}

    def _delete_records(self, stream: str, ids: Sequence[str]) -> object:
        """Remove records."""
        shelf = self._shelf(stream)
        return {"removed": [name for name in ids if shelf.remove(name)]}

    def _get_requests(self) -> object:
        """Give the log of requests."""
        return {"requests": list(self.log)}

    def _delete_requests(self) -> object:
        """Empty the log."""
        self.log.clear()
        return {}

    def _post_faults(self, faults: Sequence[Any]) -> object:
        """Put faults in force instead of all others."""
        self.arm(faults)
        return {}

    def _shelf(self, stream: str) -> Shelf:
        if stream not in ENDPOINTS:
            msg = f"unknown stream {stream!r}, known are {', '.join(ENDPOINTS)}"
            raise ValueError(msg)
        return self.world.shelves[stream]

    async def _read(self, request: Request, entry: Logged) -> Response:
        content = await request.body()
        if latency := self.options.latency_seconds:
            await asyncio.sleep(latency)
        endpoint = self._admit(request)
        entry.stream = endpoint.stream
        entry.body = msgspec.json.decode(content)
        self._throttle()
        query = Query(self.world.shelves[endpoint.stream], entry.body)
        page = query.page()
        entry.page = query.cursor.page
        for fault in self._faults:
            if fault.strikes(query, page):
                entry.fault = fault.kind
                return await fault.respond(query, page)
        return page_response(page)

    def _admit(self, request: Request) -> Endpoint:
        """Check everything but the body (API description: "Authentication")."""
        endpoint = BY_PATH.get(request.url.path)
        if endpoint is None:
            raise HTTPException(404, "there is no such path")
        if request.method != "POST":
            raise HTTPException(405, "the method must be POST")
        expected = f"Bearer {self.options.api_key}"
        if request.headers.get("authorization") != expected:
            raise HTTPException(401, "the API key is missing or wrong")
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind.lower() != "application/json":
            raise HTTPException(415, "the content type must be application/json")
        return endpoint

    def _throttle(self) -> None:
        limit, now = self.options.rate_limit, time.monotonic()
        if limit is None:
            return
        earned = (now - self._checked) * limit
        self._tokens, self._checked = min(limit, self._tokens + earned), now
        if self._tokens < min(1, limit):
            raise HTTPException(429, "too many requests", {"Retry-After": "1"})
        self._tokens -= 1


def _reset(transport: asyncio.Transport) -> None:
    # Lingering for 0 seconds makes closing discard what is unsent, and reset.
    told = socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    transport.get_extra_info("socket").setsockopt(*told)
    transport.abort()


class _Protocol(HttpToolsProtocol):
    """HTTP as usual, with the transport at hand for faults of the connection."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["state"]["transport"] = self.transport


def serve(app: App, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; port 0 takes a free one."""
    listener = socket.create_server((host, port))
    host, port = listener.getsockname()[:2]
    print(f"http://{host}:{port}", flush=True)
    config = uvicorn.Config(
        app,
        http=_Protocol,
        lifespan="off",
        log_level="critical",
        date_header=False,
        timeout_keep_alive=120,
        timeout_graceful_shutdown=1,
    )
    # The server handles both itself while it runs, and then raises them again.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
