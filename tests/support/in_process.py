"""The sandbox and the tap in this process: no server, no socket, no other process."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import responses
from pathlib import Path
from threading import Lock
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import urllib3
from click import Command
from click.testing import CliRunner
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from starlette.types import ASGIApp, Message

from tap_leadintent.checkup.cli import columns_main
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.app import App
from tap_leadintent.sandbox.options import Options
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import (
    API_KEY,
    HurriedTap,
    Json,
    Run,
    assert_keeps_secret,
    enter,
    log_of_a_process,
    options,
)

URL = "https://{}.sandbox.example"
"""No such host exists, so nothing can be sent there by mistake."""


@contextmanager
def sandbox_in_process(settings: Options, name: str) -> Iterator[Sandbox]:
    """Answer requests to one address with a sandbox.

    Only the way over the network is left out: the tap's own adapter and `requests`
    read what the sandbox sends. Faults of the connection need a server.
    """
    app = App(settings)
    lock = Lock()
    sandbox = Sandbox(URL.format(name))
    elsewhere = HTTPAdapter.send

    def send(
        adapter: HTTPAdapter,
        request: PreparedRequest,
        *args: Any,
        **kwargs: Any,
    ) -> Response:
        if not (request.url or "").startswith(f"{sandbox.url}/"):
            return elsewhere(adapter, request, *args, **kwargs)
        with lock:
            response = _respond(app, request)
        built: Response = adapter.build_response(request, response)
        return built

    with mock.patch.object(HTTPAdapter, "send", send):
        yield sandbox


def _respond(app: ASGIApp, request: PreparedRequest) -> urllib3.HTTPResponse:
    url = urlsplit(request.url or "")
    body = request.body or b""
    headers = []
    for name, value in request.headers.items():
        headers.append((name.lower().encode(), value.encode()))
    scope = {
        "type": "http",
        "method": request.method,
        "path": url.path,
        "query_string": url.query.encode(),
        "headers": headers,
    }
    sent: list[Message] = []

    async def receive() -> Message:
        content = body if isinstance(body, bytes) else body.encode()
        return {"type": "http.request", "body": content}

    async def send(message: Message) -> None:
        sent.append(message)

    # What waits, or breaks a connection, sends nothing here: it needs a server.
    with suppress(StopIteration):
        next(app(scope, receive, send).__await__())
    start, *parts = sent
    content = b"".join(part.get("body", b"") for part in parts)
    answered: dict[str, str] = {}
    for field, text in start["headers"]:
        answered[field.decode()] = text.decode("latin-1")
    return urllib3.HTTPResponse(
        io.BytesIO(content),
        answered,
        start["status"],
        reason=responses.get(start["status"], ""),
        preload_content=False,
    )


def run_in_process(
    folder: Path,
    config: Json,
    *arguments: str,
    catalog: Json | None = None,
    state: Json | None = None,
    tap: type[TapLeadIntent] = HurriedTap,
) -> Run:
    """Run a tap as its command line does; assert that it keeps the key to itself.

    Retries do not wait, unless it is another tap.
    """
    files = options(
        folder,
        config=config,
        catalog=catalog,
        state=state,
    )
    result = enter(*files, *arguments, tap=tap)
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    assert_keeps_secret(
        config.get("api_key"),
        result.stdout,
        result.stderr,
    )
    return Run(result.exit_code, result.stdout, result.stderr)


def run_checkup(
    folder: Path,
    command: Command,
    config: Json | None,
    *arguments: str,
) -> Run:
    """Run a command of the check-up; assert that it keeps the key to itself."""
    files = [*options(folder, config=config)]
    with log_of_a_process():
        result = CliRunner().invoke(command, [*files, *arguments])
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    assert_keeps_secret(API_KEY, result.stdout, result.stderr)
    return Run(result.exit_code, result.stdout, result.stderr)


def typed_catalog(
    folder: Path,
    config: Json,
    *arguments: str,
) -> Any:
    """Return the catalog that `tap-leadintent-columns --catalog` prints."""
    arguments = (*arguments, "--catalog")
    return json.loads(run_checkup(folder, columns_main, config, *arguments).stdout)
