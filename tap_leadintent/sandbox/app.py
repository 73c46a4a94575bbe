"""The sandbox as an ASGI application: checks a request, finds its page, logs it."""

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
from tap_leadintent.sandbox.world import StreamRecords, World

_LOG_LENGTH = 20_000
_CONTROL = "/_sandbox/"
_JSON = "application/json"
_TEN_YEARS = 10 * 365 * 86_400
_Ahead = Annotated[float, msgspec.Meta(ge=0, le=_TEN_YEARS)]


class Logged(msgspec.Struct):
    """A request to the API.

    Attributes:
        stream: The stream that its path belongs to; null for an unknown path.
        body: Its body, null unless it was JSON.
        page: Number of the page in its cursor chain; null if the request was refused.
        fault: Kind of the fault that was applied to it; null without a fault.
        status: Status code of the response, null before it is sent.
    """

    stream: str | None = None
    body: Any = None
    page: int | None = None
    fault: str | None = None
    status: int | None = None


class App:
    """The sandbox as an ASGI application.

    Attributes:
        options: The options of the sandbox.
        world: The records that can be read.
        log: The latest requests.
    """

    def __init__(
        self,
        options: Options,
        faults: Sequence[Any] = (),
    ) -> None:
        """Start with new records and these faults."""
        self._base = options
        self.configure(options)
        self.set_faults(faults)

    def configure(self, options: Options) -> None:
        """Start again with new records, an empty log and no faults."""
        self.options = options
        self.world = World(options)
        self.log: deque[Logged] = deque(maxlen=_LOG_LENGTH)
        self.set_faults()
        # A token bucket, which holds the tokens of one second and is full at first.
        self._tokens = options.rate_limit or 0.0
        self._checked = time.monotonic()

    def set_faults(self, faults: Sequence[Any] = ()) -> None:
        """Replace all faults. Of several that match a request, the first is applied.

        Raises:
            msgspec.ValidationError: One of them is not a fault.
        """
        self._faults = [msgspec.convert(each, Fault) for each in faults]

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Serve one request."""
        self.world.tick()
        request = Request(scope, receive)
        entry = Logged()
        try:
            response = await self._answer(request, entry)
        except ConnectionResetError:
            _reset(scope["state"]["transport"])
            return
        entry.status = response.status_code
        seconds = self.world.now // SECOND
        date = formatdate(seconds, usegmt=True)
        response.headers.setdefault("Date", date)
        await response(scope, receive, send)

    async def _answer(self, request: Request, entry: Logged) -> Response:
        status = 400
        headers = None
        try:
            if request.url.path.startswith(_CONTROL):
                return await self._control(request)
            self.log.append(entry)
            return await self._read(request, entry)
        except HTTPException as refused:
            status = refused.status_code
            headers = refused.headers
            message = refused.detail
        except (TypeError, ValueError) as error:
            message = str(error)
        content = {
            "code": HTTPStatus(status).name.lower(),
            "message": message,
        }
        body = json.dumps({"error": content})
        return Response(
            body,
            status,
            headers,
            media_type=_JSON,
        )

    async def _control(self, request: Request) -> Response:
        if "origin" in request.headers:
            message = "web pages may not control the sandbox; send no Origin header"
            raise HTTPException(403, message)
        route = request.url.path.removeprefix(_CONTROL)
        handler = getattr(
            self,
            f"_{request.method.lower()}_{route}",
            None,
        )
        if handler is None:
            raise HTTPException(404, "there is no such route")
        # The standard decoder also accepts lone surrogates, which msgspec refuses.
        content = await request.body()
        fields = json.loads(content or b"{}")
        signature = inspect.signature(handler)
        arguments = signature.bind(**request.query_params, **fields)
        result = handler(*arguments.args, **arguments.kwargs)
        encoded = msgspec.json.encode(result)
        return Response(encoded, media_type=_JSON)

    # The control routes. Arguments and results are JSON; a ValueError becomes HTTP 400.

    def _get_clock(self) -> object:
        """Return the time of the clock."""
        return {"now": format_time(self.world.now)}

    def _post_clock(self, advance_seconds: float) -> object:
        """Move the clock forward."""
        seconds = msgspec.convert(advance_seconds, _Ahead)
        self.world.advance(seconds * SECOND)
        return self._get_clock()

    def _post_configure(self, **options: Any) -> object:
        """Start again with changed options."""
        changed = self._base.changed(options)
        self.configure(changed)
        return self._get_clock()

    def _get_records(self, stream: str) -> object:
        """Return all records of a stream with their times."""
        stream_records = self._records_of(stream)
        records: list[msgspec.Raw] = []
        times: dict[str, dict[str, str]] = {}
        for _, name, entry in stream_records.rows("found"):
            body = stream_records.body(entry)
            records.append(msgspec.Raw(body))
            times[name] = stream_records.times(entry)
        return {"records": records, "times": times}

    def _post_records(
        self,
        stream: str,
        records: Sequence[Any] = (),
        **times: str,
    ) -> object:
        """Insert or replace records, given as any JSON or as texts that contain JSON.

        A record replaces the one with the same `id`. The times (ISO 8601) are
        `found_at`, when the records appear, and `observed_at` or `activity_at`, the
        time of their latest signal or activity. By default, a record appears when the
        replaced one did, or now, and its latest time is when it appears.
        """
        stream_records = self._records_of(stream)
        known = stream_records.endpoint.times.values()
        unknown = times.keys() - known
        if unknown:
            raise ValueError(f"records of {stream} have no {min(unknown)}")
        instants: dict[str, int] = {}
        for name, text in times.items():
            instants[name] = parse_time(text)
        ids: list[str] = []
        for record in records:
            record_id = stream_records.put(record, instants)
            ids.append(record_id)
        return {"ids": ids}

    def _delete_records(
        self,
        stream: str,
        ids: Sequence[str],
    ) -> object:
        """Remove records."""
        stream_records = self._records_of(stream)
        removed: list[str] = []
        for record_id in ids:
            existed = stream_records.remove(record_id)
            if existed:
                removed.append(record_id)
        return {"removed": removed}

    def _get_requests(self) -> object:
        """Return the log of requests."""
        return {"requests": list(self.log)}

    def _delete_requests(self) -> object:
        """Empty the log."""
        self.log.clear()
        return {}

    def _post_faults(self, faults: Sequence[Any]) -> object:
        """Replace all faults."""
        self.set_faults(faults)
        return {}

    def _records_of(self, stream: str) -> StreamRecords:
        if stream not in ENDPOINTS:
            known = ", ".join(ENDPOINTS)
            raise ValueError(f"unknown stream {stream!r}, known are {known}")
        return self.world.streams[stream]

    async def _read(self, request: Request, entry: Logged) -> Response:
        content = await request.body()
        if self.options.latency_seconds:
            await asyncio.sleep(self.options.latency_seconds)
        endpoint = self._admit(request)
        entry.stream = endpoint.stream
        entry.body = msgspec.json.decode(content)
        self._throttle()
        stream_records = self.world.streams[endpoint.stream]
        query = Query(stream_records, entry.body)
        page = query.page()
        entry.page = query.cursor.page
        for fault in self._faults:
            if fault.applies_to(query, page):
                entry.fault = fault.kind
                return await fault.respond(query, page)
        return page_response(page)

    def _admit(self, request: Request) -> Endpoint:
        """Check everything except the body (API description: "Authentication")."""
        endpoint = BY_PATH.get(request.url.path)
        if endpoint is None:
            raise HTTPException(404, "there is no such path")
        if request.method != "POST":
            raise HTTPException(405, "the method must be POST")
        expected = f"Bearer {self.options.api_key}"
        if request.headers.get("authorization") != expected:
            raise HTTPException(401, "the API key is missing or wrong")
        content_type = request.headers.get("content-type", "")
        media_type, _, _ = content_type.partition(";")
        if media_type.strip().lower() != _JSON:
            raise HTTPException(415, "the content type must be application/json")
        return endpoint

    def _throttle(self) -> None:
        """Refuse the request if the rate limit is exceeded."""
        limit = self.options.rate_limit
        if limit is None:
            return
        now = time.monotonic()
        earned = (now - self._checked) * limit
        self._tokens = min(limit, self._tokens + earned)
        self._checked = now
        if self._tokens < min(1, limit):
            raise HTTPException(
                429,
                "too many requests",
                {"Retry-After": "1"},
            )
        self._tokens -= 1


def _reset(transport: asyncio.Transport) -> None:
    # With a linger time of 0, closing discards unsent data and resets the connection.
    no_time = struct.pack("ii", 1, 0)
    connection = transport.get_extra_info("socket")
    connection.setsockopt(
        socket.SOL_SOCKET,
        socket.SO_LINGER,
        no_time,
    )
    transport.abort()


class _Protocol(HttpToolsProtocol):
    """The usual protocol; it keeps the transport for faults of the connection."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["state"]["transport"] = self.transport


def serve(
    app: App,
    host: str,
    port: int,
) -> None:
    """Serve until SIGINT or SIGTERM. Port 0 stands for a free port."""
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
    # The server handles both signals while it runs, and raises them again at its end.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
