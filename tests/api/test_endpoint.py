"""Chains of pages that hold nothing."""

from __future__ import annotations

import json
import logging
from itertools import islice
from typing import TYPE_CHECKING, Any
from unittest import mock

from tap_leadintent.api.endpoint import Endpoint
from tap_leadintent.api.page import Page
from tap_leadintent.api.pagination import CursorPaginator

if TYPE_CHECKING:
    import pytest


def test_empty_pages_without_end_get_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bodies = (
        {"data": [], "cursor": {"has_more": True, "next": str(n)}} for n in range(999)
    )
    sender: Any = mock.Mock(logger=logging.getLogger("leads"))
    sender.fetch.side_effect = (Page(json.dumps(body).encode()) for body in bodies)
    endpoint = Endpoint(
        sender=sender,
        prepare=mock.Mock(),
        body=lambda *_: {},
        new_paginator=CursorPaginator,
    )
    pages = endpoint.read({}, lambda: None)
    assert len(list(islice(pages, 100))) == 100
    assert not caplog.messages
    assert len(list(islice(pages, 500))) == 500
    (line,) = caplog.messages
    assert line.startswith("The API has sent 100 empty pages in a row")
