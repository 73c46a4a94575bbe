"""Ways in which the API can be made to misbehave, and when they apply."""

import asyncio
import json
from random import Random
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.query import Page, Query

KINDS = ("status", "truncate", "empty_page", "reset", "hang")
"""What can happen to a request; see `Fault.respond`."""

_JSON = "application/json"


class Fault(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, dict=True):
    """What goes wrong, and when.

    Attributes:
        kind: What happens, one of `KINDS`.
        stream: Only requests to this stream's endpoint; every one when null.
        pages: Only these pages of a cursor chain, counted from 1.
        skip: How many matching requests pass first.
        times: Largest number of requests struck; unlimited when null.
        rate: Share of the matching requests that are struck.
        seed: Seed of the draws for `rate`.
        status: Status code, for the kind of that name.
        headers: More headers of the response, likewise.
        body: Body of the response, likewise: text, or any other JSON.
        seconds: How long `hang` takes.
    """

    kind: str
    stream: str | None = None
    pages: Literal["first", "middle", "last"] | list[int] | None = None
    skip: int = 0
    times: int | None = None
    rate: float = 1.0
    seed: int = 1
    status: int = 500
    headers: dict[str, str] = {}
    body: Any = '{"error": "injected by the sandbox"}'
    seconds: float = 60.0

    def __post_init__(self) -> None:
        """Check that the fault can strike at all."""
        if self.kind not in KINDS or self.stream not in (None, *ENDPOINTS):
            msg = f"the fault's kind is not one of {', '.join(KINDS)}, or its "
            msg += f"stream not one of {', '.join(ENDPOINTS)}"
            raise ValueError(msg)
        self._random, self._seen, self._struck = Random(self.seed), 0, 0

    def strikes(self, query: Query, page: Page) -> bool:
        """Say whether the fault strikes an answer, and count it."""
        if self._struck == self.times or not self._is_meant_for(query, page):
            return False
        self._seen += 1
        if self._seen <= self.skip or self._random.random() >= self.rate:
            return False
        self._struck += 1
        return True

    def _is_meant_for(self, query: Query, page: Page) -> bool:
        number, is_last = query.cursor.page, not page.next
        if self.stream not in (None, query.shelf.endpoint.stream):
            return False
        if isinstance(self.pages, list):
            return number in self.pages
        is_middle = number > 1 and not is_last
        places = {"first": number == 1, "middle": is_middle, "last": is_last}
        return self.pages is None or places[self.pages]

    async def respond(self, query: Query, page: Page) -> Response:
        """Answer a query in the fault's own way, instead of with its page.

        Raises:
            ConnectionResetError: The connection is to be reset.
        """
        if self.kind == "status":
            content = self.body if isinstance(self.body, str) else json.dumps(self.body)
            return Response(content, self.status, self.headers, _JSON)
        if self.kind == "truncate":
            whole = page.encode()
            return Response(whole[: len(whole) // 2], media_type=_JSON)
        if self.kind == "reset":
            raise ConnectionResetError
        if self.kind == "hang":
            await asyncio.sleep(self.seconds)
        if self.kind == "empty_page":
            following = query.cursor_at(query.cursor.page + 1, query.cursor.after)
            page = Page([], following.token())
        return page_response(page)


def page_response(page: Page) -> Response:
    """Answer with a page as it should be."""
    return Response(page.encode(), media_type=_JSON)
