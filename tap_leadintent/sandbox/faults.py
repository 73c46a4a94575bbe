"""Faults: ways in which the sandbox can fail, and the requests that they affect."""

import asyncio
import json
from collections.abc import Iterable
from email.utils import formatdate
from random import Random
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.query import EVER, Page, Query
from tap_leadintent.sandbox.times import DAY, SECOND

KINDS = (
    "status",
    "page",
    "truncate",
    "empty_page",
    "reset",
    "hang",
    "cut_range",
    "cap",
    "two_sheets",
    "circle",
    "ignored_range",
    "rounded_range",
    "open_range",
    "kept_days",
    "short_page",
    "first_signals",
    "wrong_clock",
    "more_fields",
    "short_list",
)
"""The kinds of faults; see `Fault.respond`."""

_JSON = "application/json"

_OTHER_SHEET = {
    "id": "sheet_other",
    "name": "Other",
}


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
        seconds: Seconds without a response, for the kind `hang`; by which the clock is
            ahead, for `wrong_clock`; to whose multiples a time range is widened, for
            `rounded_range`.
        days: Days to which a longer time range is cut, for the kind `cut_range`; before
            now in which a range may begin, for `kept_days`; that a list without a range
            holds, for `short_list`.
        records: Records after which a query ends, for the kind `cap`; on a page at
            most, for `short_page`.
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
        is_stream = self.stream is None or self.stream in ENDPOINTS
        if self.kind not in KINDS or not is_stream:
            kinds = ", ".join(KINDS)
            streams = ", ".join(ENDPOINTS)
            raise ValueError(
                f"the fault's kind is not one of {kinds}, or its stream "
                f"not one of {streams}"
            )
        self._random = Random(self.seed)
        self._matched = 0
        self._applied = 0

    def applies_to(
        self,
        query: Query,
        page: Page,
    ) -> bool:
        """Return whether the fault affects a request, and count the request."""
        if self._applied == self.times:
            return False
        if not self._matches(query, page):
            return False
        self._matched += 1
        if self._matched <= self.skip:
            return False
        if self._random.random() >= self.rate:
            return False
        self._applied += 1
        return True

    def _matches(self, query: Query, page: Page) -> bool:
        number = query.cursor.page
        is_last = not page.next
        stream = query.records.endpoint.stream
        if self.stream is not None and self.stream != stream:
            return False
        if isinstance(self.pages, list):
            return number in self.pages
        if self.pages is None:
            return True
        places = {
            "first": number == 1,
            "middle": number > 1 and not is_last,
            "last": is_last,
        }
        return places[self.pages]

    async def respond(
        self,
        query: Query,
        page: Page,
    ) -> Response:
        """Return the response that the fault makes of a page.

        Raises:
            ConnectionResetError: The kind is `reset`.
        """
        match self.kind:
            case "status":
                text = self.body
                if not isinstance(text, str):
                    text = json.dumps(text)
                return self._response(text)
            case "page":
                text = page.encode().decode()
                return self._response(text.encode(self.charset))
            case "truncate":
                body = page.encode()
                half = len(body) // 2
                return Response(body[:half], media_type=_JSON)
            case "kept_days" if self._is_too_early(query):
                return Response(
                    '{"error": "too early"}',
                    400,
                    media_type=_JSON,
                )
            case "reset":
                raise ConnectionResetError
            case "hang":
                await asyncio.sleep(self.seconds)
        changed = self._changed(query, page)
        response = page_response(changed)
        if self.kind == "wrong_clock":
            shown = query.records.now // SECOND + self.seconds
            date = formatdate(shown, usegmt=True)
            response.headers["Date"] = date
        return response

    def _response(self, body: str | bytes) -> Response:
        """Return a response with the fault's status and headers."""
        return Response(
            body,
            self.status,
            self.headers,
            media_type=_JSON,
        )

    def _is_too_early(self, query: Query) -> bool:
        """Return whether a time range begins before the days that are kept."""
        if query.range == EVER:
            return False
        start, _ = query.range
        kept = int(self.days * DAY)
        earliest = query.records.now - kept
        return start < earliest

    def _changed(self, query: Query, page: Page) -> Page:
        """Return the page as an API would that errs without saying so."""
        number = query.cursor.page
        match self.kind:
            case "empty_page":
                following = query.cursor_at(number + 1, query.cursor.after)
                page = Page([], following.token())
            case "cap":
                remaining = self.records - (number - 1) * query.limit
                after = page.next if remaining > query.limit else ""
                bodies = page.bodies[:remaining]
                page = Page(bodies, after)
            case "two_sheets":
                record = page.bodies[:1]
                record_again = _merged(record, {"sheet": _OTHER_SHEET})
                bodies = page.bodies + record_again
                page = Page(bodies, page.next)
            case "first_signals" if query.axis == "found" and query.range != EVER:
                bodies = list(map(query.records.first_body, query.entries))
                page = Page(bodies, page.next)
            case "more_fields":
                bodies = _merged(page.bodies, {"insight": {"grade": 1}})
                total = {"total": len(bodies)}
                page = Page(bodies, page.next, total)
            case "circle" if number % 3 == 0 and page.next:
                first = query.cursor_at(number + 1, None)
                page = Page(page.bodies, first.token())
            case "short_page":
                query.limit = min(query.limit, self.records)
                page = query.page()
            case _:
                changed = self._range(query)
                if changed != query.range:
                    query.range = changed
                    page = query.page()
        return page

    def _range(self, query: Query) -> tuple[int, int]:
        """Return the time range that the API reads in place of the requested one."""
        start, end = query.range
        length = int(self.days * DAY)
        if query.range == EVER:
            if self.kind == "short_list":
                start = query.records.now - length
            return start, end
        match self.kind:
            case "ignored_range":
                return EVER
            case "cut_range":
                end = min(end, start + length)
            case "rounded_range":
                unit = max(1, int(self.seconds * SECOND))
                start -= start % unit
                end += -end % unit
            case "open_range":
                start += 1
                end -= 1
        return start, end


def _merged(
    bodies: Iterable[bytes],
    fields: dict[str, Any],
) -> list[bytes]:
    """Return records with other fields."""
    merged: list[bytes] = []
    for body in bodies:
        record = json.loads(body) | fields
        text = json.dumps(record)
        merged.append(text.encode())
    return merged


def page_response(page: Page) -> Response:
    """Return the response with a page, without a fault."""
    return Response(page.encode(), media_type=_JSON)
