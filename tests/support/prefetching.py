"""Chains of pages, and threads that read them, without any network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tap_leadintent.api.page import Page
from tap_leadintent.replication.prefetch import Prefetch
from tap_leadintent.replication.windows import Window, Windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tap_leadintent.api.rate_limit import Check

PATIENCE = 60
DAY = 86400
Told = list[tuple[int, int]]
"""The starts of windows, and the numbers of their pages."""


class TroubleError(Exception):
    """What a chain may run into."""


def page(number: int, *, has_more: bool, padding: int = 0) -> Page:
    record = {"n": number, "x": "x" * padding}
    cursor = {"has_more": has_more, "next": "c"}
    return Page(json.dumps({"data": [record], "cursor": cursor}).encode())


def chain(pages: int, padding: int = 0) -> Iterator[Page]:
    for number in range(1, pages + 1):
        yield page(number, has_more=number < pages, padding=padding)


def fixed(count: int) -> Windows:
    """Make windows of one second each."""
    return Windows([(0, count)], page_size=1, readers=4, widest=1, quiet=True)


def nothing_wrong() -> None:
    """Check for a signal that never comes."""


def reading(
    windows: Windows,
    read: Callable[[Window, Check], Iterator[Page]],
    check: Check = nothing_wrong,
    readers: int = 4,
) -> Prefetch:
    return Prefetch(windows, read, readers=readers, check=check)


def tell(read: Prefetch, told: Told) -> None:
    """Take everything."""
    for window, pages in read:
        told.extend((window.start, one.decode().data[0]["n"]) for one in pages)
