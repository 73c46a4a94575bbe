"""What a chain asks for after pages that hold nothing."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from tap_leadintent.api.chain import Chain
from tap_leadintent.api.page import Page

if TYPE_CHECKING:
    import pytest


def test_empty_pages_without_end_get_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    chain = Chain({}, logging.getLogger("leads"))
    for number in range(1, 600):
        body = {"data": [], "cursor": {"has_more": True, "next": str(number)}}
        chain.take(Page.of(json.dumps(body).encode()))
        assert chain.after == str(number)
        assert bool(caplog.messages) == (number >= 100)
    (line,) = caplog.messages
    assert line.startswith("The API has sent 100 empty pages in a row")
