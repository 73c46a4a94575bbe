"""Runs the tap with a mistake in it: `python -m tests.support.exploding`.

Its exception prints the request's headers, the key among them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from unittest import mock

from tap_leadintent.api.page import Page
from tap_leadintent.tap import TapLeadIntent

if TYPE_CHECKING:
    import requests

read = Page.of


def explode(response: requests.Response) -> Page:
    if response.request.url and response.request.url.endswith("/signals/leads"):
        msg = f"cannot cope with {response.request.headers}"
        raise ZeroDivisionError(msg)
    return read(response)


sys.argv[0] = "tap-leadintent"
with mock.patch("tap_leadintent.api.page.Page.of", explode):
    TapLeadIntent.cli()
