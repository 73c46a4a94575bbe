"""The sandbox as one application: the API, its controls, and the clock's `Date`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.routing import Mount

from tap_leadintent.sandbox.api import Api
from tap_leadintent.sandbox.control import Control
from tap_leadintent.sandbox.faults.rules import FaultRules
from tap_leadintent.sandbox.times import http_date

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tap_leadintent.sandbox.faults.rules import Fault
    from tap_leadintent.sandbox.options import Options


def create_app(options: Options, faults: Sequence[Fault] = ()) -> ASGIApp:
    """Give the sandbox as an ASGI application, with faults until it is told others."""
    api = Api(options)
    api.faults = FaultRules(faults)
    routes = [Mount("/_sandbox", routes=Control(api).routes), Mount("/", app=api)]
    return _Dated(Starlette(routes=routes), api)


class _Dated:
    """Gives each response a `Date` header from the sandbox's clock."""

    def __init__(self, app: ASGIApp, api: Api) -> None:
        self._app = app
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def dated_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Date", http_date(self._api.world.now))
            await send(message)

        await self._app(scope, receive, dated_send)
