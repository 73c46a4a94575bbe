"""Faults that answer with a well-formed page envelope that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from starlette.responses import Response

from tap_leadintent.sandbox.cursor import Cursor, write_cursor
from tap_leadintent.sandbox.faults.rules import Exchange, Fault
from tap_leadintent.sandbox.pages import encode_page

if TYPE_CHECKING:
    from tap_leadintent.sandbox.pages import Page


def page_response(page: Page) -> Response:
    """Answer with a page as it should be."""
    return Response(page.encode(), media_type="application/json")


def _answer(bodies: list[bytes], **cursor: Any) -> Response:
    content = encode_page(bodies, {**cursor, "has_more": True})
    return Response(content, media_type="application/json")


class NoNext(Fault, tag="no_next"):
    """More is promised, but no cursor given: `next` is "", null or absent."""

    next: Literal["", "absent"] | None = ""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with the page and without a cursor."""
        cursor = {} if self.next == "absent" else {"next": self.next}
        return _answer(exchange.page.bodies, **cursor)


class Cycle(Fault, tag="cycle"):
    """`next` leads back to the first page of the chain."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with the page and a cursor to page 1."""
        start = Cursor(binding=exchange.page.start.binding)
        return _answer(exchange.page.bodies, next=write_cursor(start))


class SameCursor(Fault, tag="same_cursor"):
    """`next` is the cursor just used."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with the page and a cursor to the same page."""
        return _answer(exchange.page.bodies, next=write_cursor(exchange.page.start))


class EmptyPage(Fault, tag="empty_page"):
    """An empty page with `has_more`, whose `next` continues without loss."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with no records and a cursor to what is due here."""
        start = exchange.page.start
        following = msgspec.structs.replace(start, page=start.page + 1)
        return _answer([], next=write_cursor(following))


class IgnoreRange(Fault, tag="ignore_range"):
    """The page is served as if the request gave no time range."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with the page of the unrestricted query."""
        return page_response(exchange.reread())


class Duplicate(Fault, tag="duplicate"):
    """The page's first record comes twice."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with the first record repeated at the end."""
        bodies = exchange.page.bodies
        return page_response(
            msgspec.structs.replace(exchange.page, bodies=bodies + bodies[:1])
        )


class MissingId(Fault, tag="missing_id"):
    """The page's first record has no `id`."""

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer with the first record's id removed."""
        bodies = list(exchange.page.bodies)
        if bodies:
            record = msgspec.json.decode(bodies[0])
            del record["id"]
            bodies[0] = msgspec.json.encode(record)
        return page_response(msgspec.structs.replace(exchange.page, bodies=bodies))
