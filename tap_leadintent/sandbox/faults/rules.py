"""Rules that make the API misbehave, and when they apply."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from tap_leadintent.sandbox.endpoints import BY_PATH, ENDPOINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.responses import Response

    from tap_leadintent.sandbox.pages import Page
    from tap_leadintent.sandbox.query import Query

Pages: TypeAlias = Literal["first", "middle", "last"] | list[int]


class Exchange(msgspec.Struct):
    """A valid request about to be answered.

    Attributes:
        query: What was asked.
        page: The page that would answer it.
        authorization: The request's `Authorization` header.
        reread: Reads the page as if the request gave no time range.
    """

    query: Query
    page: Page
    authorization: str
    reread: Callable[[], Page]


class Fault(
    msgspec.Struct, kw_only=True, forbid_unknown_fields=True,
    tag_field="kind",
):  # fmt: skip
    """When a fault strikes; subclasses say what happens then.

    Attributes:
        path: Only requests to this path; every path when null.
        stream: Only requests to this stream's endpoint; every one when null.
        pages: Only these pages of a cursor chain, counted from 1.
        skip: How many matching requests pass first.
        rate: Share of the matching requests that are struck.
        times: Largest number of requests struck; unlimited when null.
        seed: Seed of the draws for `rate`.
    """

    path: str | None = None
    stream: str | None = None
    pages: Pages | None = None
    skip: int = 0
    rate: float = 1.0
    times: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        """Check that the rule can strike at all."""
        if self.path not in (None, *BY_PATH) or self.stream not in (None, *ENDPOINTS):
            msg = "the fault names an unknown path or stream"
            raise ValueError(msg)

    def matches(self, exchange: Exchange) -> bool:
        """Say whether an exchange is one that the fault is meant for."""
        endpoint = exchange.query.endpoint
        return (
            self.path in (None, endpoint.path)
            and self.stream in (None, endpoint.stream)
            and (self.pages is None or _on(self.pages, exchange.page))
        )

    def respond(self, exchange: Exchange, /) -> Response:
        """Answer the exchange in the fault's own way."""
        raise NotImplementedError


def _on(pages: Pages, page: Page) -> bool:
    number = page.start.page
    if pages == "first":
        return number == 1
    if pages == "last":
        return page.following is None
    if pages == "middle":
        return number > 1 and page.following is not None
    return number in pages


class FaultRules:
    """The faults in force; the first one that matches strikes."""

    def __init__(self, faults: Sequence[Fault] = ()) -> None:
        """Put faults in force."""
        self._armed = [_Armed(fault) for fault in faults]

    def matching(self, exchange: Exchange) -> Fault | None:
        """Give the fault that strikes an exchange, if any."""
        for armed in self._armed:
            if armed.strikes(exchange):
                return armed.fault
        return None


class _Armed:
    """A fault together with what it has done so far."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self._random = Random(fault.seed)
        self._seen = 0
        self._struck = 0

    def strikes(self, exchange: Exchange) -> bool:
        fault = self.fault
        if fault.times is not None and self._struck >= fault.times:
            return False
        if not fault.matches(exchange):
            return False
        self._seen += 1
        if self._seen <= fault.skip or self._random.random() >= fault.rate:
            return False
        self._struck += 1
        return True
