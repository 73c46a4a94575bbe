"""Runs the tap with a mistake in it: `python -m tests.support.exploding`.

Its exception prints the request's headers, the key among them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from unittest import mock

from tap_leadintent.api.responses import read_page
from tap_leadintent.tap import TapLeadIntent

if TYPE_CHECKING:
    import requests

    from tap_leadintent.api.page import Page


def explode(response: requests.Response, *others: Any) -> Page:
    if response.request.url and response.request.url.endswith("/signals/leads"):
        msg = f"cannot cope with {response.request.headers}"
        raise ZeroDivisionError(msg)
    return read_page(response, *others)


sys.argv[0] = "tap-leadintent"
with mock.patch("tap_leadintent.api.responses.read_page", explode):
    TapLeadIntent.cli()
