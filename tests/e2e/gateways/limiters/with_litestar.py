"""Sixty requests a minute, by Litestar: `with_litestar.py PORT UPSTREAM`."""

import sys

import httpx
import uvicorn
from litestar import Litestar, Request, Response, post
from litestar.middleware.rate_limit import RateLimitConfig

_CLIENT = httpx.AsyncClient(timeout=60)


@post("/{path:path}")  # type: ignore[untyped-decorator]
async def forward(request: Request, path: str) -> Response[bytes]:
    """Ask the API, and pass its answer on."""
    answer = await _CLIENT.post(
        f"{sys.argv[2]}{path}",
        content=await request.body(),
        headers={
            "Authorization": request.headers["Authorization"],
            "Content-Type": "application/json",
        },
    )
    return Response(
        answer.content,
        status_code=answer.status_code,
        media_type="application/json",
    )


limit = RateLimitConfig(rate_limit=("minute", 60))
app = Litestar([forward], middleware=[limit.middleware])
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
