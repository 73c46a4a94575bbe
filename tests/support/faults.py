"""The faults of a hostile network, and the ways to read under them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.runs import CLOCK, after_since, instant

Rule = dict[str, Any]

BEGIN = f"{(instant(CLOCK) - timedelta(seconds=8)).isoformat()[:19]}Z"
"""Where the history begins that is read in several windows."""

PLANS: dict[str, dict[str, Any]] = {
    "one chain": {},
    # A window for each second, and none is empty, as one beyond the clock would be.
    "windows in turn": {"start_date": BEGIN, "end_date": CLOCK, "concurrency": 1},
    "windows at once": {"start_date": after_since(-31), "concurrency": 8},
}
"""How leads are read."""


def status(code: int, **more: Any) -> Rule:
    return {"kind": "status", "status": code, **more}


def body(content: Any, **more: Any) -> Rule:
    return {"kind": "body", "body": content, **more}


PASSING: dict[str, Rule] = {
    "500": status(500),
    "429": status(429, headers={"Retry-After": "0.01"}),
    "reset": {"kind": "reset"},
    "undecodable": body("{}", headers={"Content-Encoding": "gzip"}),
    "truncate": {"kind": "truncate"},
    "html": {"kind": "html"},
    "no data": body({"cursor": {"next": "", "has_more": False}}),
}
"""What another try may mend."""
