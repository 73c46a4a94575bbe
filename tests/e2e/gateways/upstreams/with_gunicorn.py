"""Passes requests on; gunicorn runs it with `UPSTREAM` in its environment."""

import os
from collections.abc import Callable, Iterable
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def app(
    environ: dict[str, Any],
    start_response: Callable[..., object],
) -> Iterable[bytes]:
    """Ask the API, and pass its answer on."""
    request = Request(  # noqa: S310 - a server of this machine
        f"{os.environ['UPSTREAM']}{environ['PATH_INFO']}",
        environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])),
        {"Authorization": environ["HTTP_AUTHORIZATION"]},
    )
    try:
        with urlopen(request) as answer:  # noqa: S310
            body = answer.read()
    except HTTPError as error:
        start_response(f"{error.code} {error.reason}", [])
        return [error.read()]
    start_response("200 OK", [("Content-Type", "application/json")])
    return [body]
