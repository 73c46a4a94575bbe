"""Routes under `/_sandbox/` that steer the sandbox; they need no key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from tap_leadintent.sandbox.data.inserts import insert, read_insert
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.faults.bodies import error_body
from tap_leadintent.sandbox.faults.kinds import FaultKind
from tap_leadintent.sandbox.faults.rules import FaultRules
from tap_leadintent.sandbox.times import SECOND, format_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from tap_leadintent.sandbox.api import Api
    from tap_leadintent.sandbox.data.shelf import Entry, Shelf

_NO_PAGES = "web pages may not steer the sandbox; send no Origin header"


class _Tick(msgspec.Struct, forbid_unknown_fields=True):
    now: str | None = None
    advance_seconds: float | None = None


class _Removal(msgspec.Struct, forbid_unknown_fields=True):
    stream: str
    ids: list[str]


class Control:
    """The control routes of one API."""

    def __init__(self, api: Api) -> None:
        """Steer the given API."""
        self._api = api
        self._base = api.world.options

    @property
    def routes(self) -> list[Route]:
        """The routes, relative to `/_sandbox`."""
        table = (
            ("/clock", "GET", self._get_clock),
            ("/clock", "POST", self._post_clock),
            ("/configure", "POST", self._configure),
            ("/records", "GET", self._get_records),
            ("/records", "POST", self._post_records),
            ("/records", "DELETE", self._delete_records),
            ("/requests", "GET", self._get_requests),
            ("/requests", "DELETE", self._delete_requests),
            ("/faults", "POST", self._post_faults),
            ("/faults", "DELETE", self._delete_faults),
        )
        return [
            Route(path, _answering(handler), methods=[method])
            for path, method, handler in table
        ]

    async def _get_clock(self, _request: Request) -> object:
        return {"now": format_time(self._api.world.now)}

    async def _post_clock(self, request: Request) -> object:
        tick = msgspec.json.decode(await request.body(), type=_Tick)
        if (tick.now is None) == (tick.advance_seconds is None):
            msg = "give either now or advance_seconds"
            raise ValueError(msg)
        world = self._api.world
        if tick.now is not None:
            world.advance(parse_time(tick.now))
        else:
            world.advance(world.now + (tick.advance_seconds or 0) * SECOND)
        return {"now": format_time(world.now)}

    async def _configure(self, request: Request) -> object:
        changes = msgspec.json.decode(await request.body(), type=dict[str, Any])
        self._api.configure(self._base.changed(changes))
        return {"now": format_time(self._api.world.now)}

    async def _get_records(self, request: Request) -> object:
        shelf = self._shelf(request.query_params.get("stream", ""))
        entries = [entry for _, _, entry in shelf.rows(shelf.endpoint.order)]
        bodies = b",".join(shelf.body(entry) for entry in entries)
        answer: dict[str, Any] = {"records": msgspec.Raw(b"[%b]" % bodies)}
        if request.query_params.get("times") == "1":
            answer["times"] = [_times(shelf, entry) for entry in entries]
        return answer

    async def _post_records(self, request: Request) -> object:
        wanted = read_insert(await request.body())
        return {"ids": insert(self._shelf(wanted.stream), wanted, self._api.world.now)}

    async def _delete_records(self, request: Request) -> object:
        wanted = msgspec.json.decode(await request.body(), type=_Removal)
        shelf = self._shelf(wanted.stream)
        return {"removed": [name for name in wanted.ids if shelf.remove(name)]}

    async def _get_requests(self, _request: Request) -> object:
        return {"requests": list(self._api.log)}

    async def _delete_requests(self, _request: Request) -> object:
        self._api.clear_log()
        return {}

    async def _post_faults(self, request: Request) -> object:
        wanted = msgspec.json.decode(
            await request.body(), type=dict[Literal["faults"], list[FaultKind]]
        )
        faults = wanted.get("faults", [])
        self._api.faults = FaultRules(faults)
        return {"faults": len(faults)}

    async def _delete_faults(self, _request: Request) -> object:
        self._api.faults = FaultRules()
        return {}

    def _shelf(self, stream: str) -> Shelf:
        if stream not in ENDPOINTS:
            msg = f"unknown stream {stream!r}, known are {', '.join(ENDPOINTS)}"
            raise ValueError(msg)
        return self._api.world.shelves[stream]


def _times(shelf: Shelf, entry: Entry) -> dict[str, str]:
    times = {"found": entry.found, "latest": entry.latest}
    named = {
        name: format_time(times[axis]) for axis, name in shelf.endpoint.times.items()
    }
    return {"id": entry.id, **named}


def _answering(
    handler: Callable[[Request], Awaitable[object]],
) -> Callable[[Request], Awaitable[Response]]:
    """Encode what a handler returns, and turn its complaints into a 400."""

    async def answer(request: Request) -> Response:
        status = 200
        content: object
        try:
            if "origin" in request.headers:
                status, content = 403, error_body("forbidden", _NO_PAGES)
            else:
                content = await handler(request)
        except ValueError as error:
            status, content = 400, error_body("invalid_request", str(error))
        return Response(
            msgspec.json.encode(content), status, media_type="application/json"
        )

    return answer
