"""Faults: ways in which the sandbox can fail, and the requests that they affect."""

import asyncio
import json
from random import Random
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.query import Page, Query
from tap_leadintent.sandbox.times import DAY

KINDS = (
    *("status", "page", "truncate", "empty_page", "reset", "hang"),
    *("cut_range", "cap", "two_sheets", "circle"),
)
"""The kinds of faults; see `Fault.respond`."""

_JSON = "application/json"


class Fault(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A fault, and the requests that it affects.

    Attributes:
        kind: What happens, one of `KINDS`.
        stream: Affect only requests for this stream; null stands for all streams.
        pages: Affect only these pages of a cursor chain, counted from 1.
        skip: Number of matching requests that are not affected at first.
        times: Largest number of affected requests; null stands for no limit.
        rate: Share of the matching requests that is affected.
        seed: Seed of the random numbers for `rate`.
        status: Status code of the response, for the kinds `status` and `page`.
        headers: Additional headers of the response, for the same kinds.
        charset: Encoding of the body, for the kind `page`.
        body: Body of the response, for the kind `status`: a text, or any other JSON.
        seconds: Seconds without a response, for the kind `hang`.
        days: Days to which a longer time range is cut, for the kind `cut_range`.
        records: Records after which a query ends, for the kind `cap`.
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
    charset: str = "utf-8"
    body: Any = '{"error": "injected by the sandbox"}'
    seconds: float = 60.0
    days: float = 30.0
    records: int = 1_000

    def __post_init__(self) -> None:
        """Check the kind and the stream."""
        if self.kind not in KINDS or self.stream not in (None, *ENDPOINTS):
            raise ValueError(
                f"the fault's kind is not one of {', '.join(KINDS)}, or its stream "
                f"not one of {', '.join(ENDPOINTS)}"
            )
        self._random, self._matched, self._applied = Random(self.seed), 0, 0

    def applies_to(self, query: Query, page: Page) -> bool:
        """Return whether the fault affects a request, and count the request."""
        if self._applied == self.times or not self._matches(query, page):
            return False
        self._matched += 1
        if self._matched <= self.skip or self._random.random() >= self.rate:
            return False
        self._applied += 1
        return True

    def _matches(self, query: Query, page: Page) -> bool:
        number, is_last = query.cursor.page, not page.next
        if self.stream not in (None, query.records.endpoint.stream):
            return False
        if isinstance(self.pages, list):
            return number in self.pages
        is_middle = number > 1 and not is_last
        places = {"first": number == 1, "middle": is_middle, "last": is_last}
        return self.pages is None or places[self.pages]

    async def respond(self, query: Query, page: Page) -> Response:
        """Return the response that the fault makes of a page.

        Raises:
            ConnectionResetError: The kind is `reset`.
        """
        if self.kind == "status":
            content = self.body if isinstance(self.body, str) else json.dumps(self.body)
            return Response(content, self.status, self.headers, _JSON)
        if self.kind == "page":
            encoded = page.encode().decode().encode(self.charset)
            return Response(encoded, self.status, self.headers, _JSON)
        if self.kind == "truncate":
            body = page.encode()
            return Response(body[: len(body) // 2], media_type=_JSON)
        if self.kind == "reset":
            raise ConnectionResetError
        if self.kind == "hang":
            await asyncio.sleep(self.seconds)
        return page_response(self._changed(query, page))

    def _changed(self, query: Query, page: Page) -> Page:
        """Return the page as an API would that errs without saying so."""
        number = query.cursor.page
        if self.kind == "empty_page":
            return Page([], query.cursor_at(number + 1, query.cursor.after).token())
        if self.kind == "cut_range":
            start, end = query.range
            query.range = start, min(end, start + int(self.days * DAY))
            return query.page()
        if self.kind == "cap":
            left = self.records - (number - 1) * query.limit
            return Page(page.bodies[:left], page.next if left > query.limit else "")
        if self.kind == "two_sheets":
            copies = [json.loads(body) for body in page.bodies[:1]]
            other = {"sheet": {"id": "sheet_other", "name": "Other"}}
            return Page(
                [*page.bodies, *(json.dumps(copy | other).encode() for copy in copies)],
                page.next,
            )
        if self.kind == "circle" and number % 3 == 0 and page.next:
            return Page(page.bodies, query.cursor_at(number + 1, None).token())
        return page


def page_response(page: Page) -> Response:
    """Return the response with a page, without a fault."""
    return Response(page.encode(), media_type=_JSON)
