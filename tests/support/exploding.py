"""Runs the tap with a mistake in it: `python -m tests.support.exploding`.

Its exception prints the request's headers, the key among them.
"""

from __future__ import annotations

import sys
from typing import Any
from unittest import mock

import requests

from tap_leadintent.__main__ import main

send = requests.Session.send


def explode(session: requests.Session, request: Any, **options: Any) -> Any:
    if request.url.endswith("/signals/leads"):
        msg = f"cannot cope with {request.headers}"
        raise ZeroDivisionError(msg)
    return send(session, request, **options)


sys.argv[0] = "tap-leadintent"
with mock.patch("requests.Session.send", explode):
    main()
