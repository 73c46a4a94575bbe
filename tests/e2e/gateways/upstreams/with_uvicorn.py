"""Recycles itself after some requests: `with_uvicorn.py PORT UPSTREAM REQUESTS`."""

import sys

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def forward(request: Request) -> Response:
    """Ask the API, and pass its answer on."""
    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(
            f"{sys.argv[2]}{request.url.path}",
            content=await request.body(),
            headers={"Authorization": request.headers["Authorization"]},
        )
    return Response(answer.content, answer.status_code, media_type="application/json")


while True:
    uvicorn.run(
        Starlette(routes=[Route("/{path:path}", forward, methods=["POST"])]),
        port=int(sys.argv[1]),
        log_level="warning",
        limit_max_requests=int(sys.argv[3]),
    )
