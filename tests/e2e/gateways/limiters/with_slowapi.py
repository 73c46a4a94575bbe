"""Sixty requests a minute, by slowapi: `with_slowapi.py PORT UPSTREAM`."""

import sys

import httpx
import uvicorn
from fastapi import FastAPI, Request, Response
from slowapi import Limiter, _rate_limit_exceeded_handler
from slowapi.errors import RateLimitExceeded
from slowapi.util import get_remote_address

_CLIENT = httpx.AsyncClient(timeout=60)

app = FastAPI()
app.state.limiter = Limiter(key_func=get_remote_address)
app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)


@app.post("/{path:path}")  # type: ignore[untyped-decorator]
@app.state.limiter.limit("60/minute")  # type: ignore[untyped-decorator]
async def forward(request: Request, path: str) -> Response:
    """Ask the API, and pass its answer on."""
    answer = await _CLIENT.post(
        f"{sys.argv[2]}/{path}",
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


uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
