"""Running the sandbox under uvicorn."""

from __future__ import annotations

import logging
import signal
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tap_leadintent.sandbox.app import create_app

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from tap_leadintent.sandbox.faults.rules import Fault
    from tap_leadintent.sandbox.options import Options


class _Protocol(HttpToolsProtocol):
    """HTTP as usual, with the transport at hand for faults of the connection."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["state"]["transport"] = self.transport


class _Server(uvicorn.Server):
    """Says on stdout where it listens, once it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        print(f"http://{host}:{port}", flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Requests that still hang are cut off; uvicorn would log a traceback for each.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def _leave(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


def serve(options: Options, host: str, port: int, faults: Sequence[Fault] = ()) -> None:
    """Serve until SIGINT or SIGTERM; port 0 takes a free one."""
    # The server handles both itself while it runs, and then raises them again.
    signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)
    config = uvicorn.Config(
        create_app(options, faults),
        host=host,
        port=port,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=120,
        timeout_graceful_shutdown=1,
    )
    _Server(config).run()
