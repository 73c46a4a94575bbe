"""Passes requests on; uvicorn runs it with `UPSTREAM` in its environment."""

import os

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def forward(request: Request) -> Response:
    """Ask the API, and pass its answer on."""
    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(
            f"{os.environ['UPSTREAM']}{request.url.path}",
            content=await request.body(),
            headers={"Authorization": request.headers["Authorization"]},
        )
    return Response(answer.content, answer.status_code, media_type="application/json")


app = Starlette(routes=[Route("/{path:path}", forward, methods=["POST"])])
