"""The faults of a hostile network, and runs of the tap under them."""

from __future__ import annotations

import io
import json
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from unittest import mock

from tap_leadintent.errors import RunError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, assert_keeps_secret, entries, only
from tests.support.runs import CLOCK, after_since, instant
from tests.support.servers import response
from tests.support.store import written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tap_leadintent.sandbox import Sandbox

    Rule = dict[str, Any]

LEADS = 120
CONFIG = {
    "api_key": API_KEY,
    "page_size": 10,
    "request_timeout_seconds": 5,
    "max_retries": 8,
}

BEGIN = f"{(instant(CLOCK) - timedelta(seconds=8)).isoformat()[:19]}Z"
"""Where the history begins that is read in several windows."""

PLANS: dict[str, dict[str, Any]] = {
    "one chain": {},
    # A window for each second, and none is empty, as one beyond the clock would be.
    "several windows": {"start_date": BEGIN, "end_date": CLOCK},
    "windows as the tap likes": {"start_date": after_since(-31)},
}
"""How leads are read: in one cursor chain, in given windows, in windows of its own."""

POSITIONS = ("first", "middle", "last")


def status(code: int, **more: Any) -> Rule:
    return {"kind": "status", "status": code, **more}


def body(content: Any) -> Rule:
    return {"kind": "body", "body": content}


_NOW = {"Retry-After": "0.01"}

PASSING: dict[str, Rule] = {
    **{str(code): status(code) for code in (408, 500, 504)},
    "429": status(429, headers=_NOW),
    "429 without a word": status(429),
    "503": status(503, headers=_NOW),
    "gateway page": status(502, body="<html>Bad gateway</html>"),
    "reset": {"kind": "reset"},
    "drop": {"kind": "drop"},
    "undecodable": {"kind": "undecodable"},
    "truncate": {"kind": "truncate"},
    "html": {"kind": "html"},
    "empty body": {"kind": "empty_body"},
    "error in 200": {"kind": "error_in_200"},
    "null": body(None),
    "list": body([]),
    "no cursor": body({"data": []}),
    "no data": body({"cursor": {"next": "", "has_more": False}}),
    "no has_more": body({"data": [], "cursor": {"next": ""}}),
}
"""What another try may mend."""

SLOW: dict[str, Rule] = {
    "hang": {"kind": "hang", "seconds": 60},
    "drip": {"kind": "drip", "bytes": 1, "seconds": 0.02},
}
"""What only a bound on time ends."""

HARMLESS: dict[str, Rule] = {
    "empty page": {"kind": "empty_page"},
    "duplicate": {"kind": "duplicate"},
}
"""What is odd and no fault."""

REFUSED: dict[str, tuple[Rule, str]] = {
    **{str(code): (status(code), f"HTTP {code}") for code in (401, 402, 403, 405, 415)},
    **{
        f"redirect {code}": (
            {"kind": "redirect", "status": code, "location": "https://a.example/b"},
            f"HTTP {code} *[A-Za-z ]*: redirects are not followed",
        )
        for code in (301, 307)
    },
    "echo": ({"kind": "echo_key", "status": 403}, r"cannot serve Bearer \*\*\*"),
    "no next": ({"kind": "no_next"}, "says has_more but carries no next cursor"),
    "null next": ({"kind": "no_next", "next": None}, "carries no next cursor"),
    "absent next": ({"kind": "no_next", "next": "absent"}, "carries no next cursor"),
    "huge": ({"kind": "huge", "bytes": 3_000_000}, "larger than 1 MiB"),
    "bomb": ({"kind": "bomb", "bytes": 3_000_000}, "larger than 1 MiB"),
    "no id": ({"kind": "missing_id"}, "record has no id|no record of the page has id"),
}
"""What ends a stream, and what it then says."""

LOST_CURSORS: dict[str, Rule] = {
    str(code): {"kind": "expire_cursor", "status": code}
    for code in (400, 404, 409, 410, 422)
}
"""What begins a chain again."""

LOOPS: dict[str, Rule] = {
    "cycle": {"kind": "cycle"},
    "same cursor": {"kind": "same_cursor"},
}
"""What would never end."""


ECHOES: dict[str, bytes] = {
    "body": response(API_KEY.encode(), status="400 Bad Request"),
    "json": response(json.dumps({"error": API_KEY}).encode(), status="401 No"),
    "html": response(f"<p>Bearer {API_KEY}".encode()),
    "header": response(b"", f"X-Echo: {API_KEY}", status="500 Sorry"),
    "reason": response(b"", status=f"403 Not for {API_KEY}"),
    "redirect": response(
        b"", f"Location: https://{API_KEY}.example/{API_KEY}", status="302 Found"
    ),
    "rest": response(b"", f"Retry-After: {API_KEY}", status="429 Slow"),
    "no header": b"HTTP/1.1 200 OK\r\n: " + API_KEY.encode() + b"\r\n\r\n",
    "no http": API_KEY.encode() + b"\r\n\r\n",
    "length": f"HTTP/1.1 200 OK\r\nContent-Length: {API_KEY}\r\n\r\n".encode(),
    "chunk": f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{API_KEY}".encode(),
    "cursor": response(
        json.dumps({"data": [], "cursor": {"next": API_KEY, "has_more": True}}).encode()
    ),
    "data": response(
        json.dumps(
            {"data": [API_KEY], "cursor": {"next": API_KEY, "has_more": API_KEY}}
        ).encode()
    ),
}
"""Answers that repeat the key, wherever there is room."""


@dataclass
class Target:
    """Takes what the tap writes."""

    ids: list[str] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    def write_message(self, message: Any) -> None:
        """Take a message."""
        content = written(message)
        self.text += str(content)
        if content["type"] == "RECORD":
            self.ids.append(content["record"]["id"])
        elif content["type"] == "STATE":
            self.state = content["value"]


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    ids: list[str]
    state: dict[str, Any]
    error: str | None
    log: str

    def whole(self, expected: set[str]) -> None:
        """Assert that all went well."""
        assert self.error is None
        assert set(self.ids) == expected


def _leads_alone() -> dict[str, Any]:
    """Give a catalog of leads alone; reading all entries would take longer."""
    return {"streams": [entries(only("leads"))["leads"]]}


def read_leads(
    sandbox: Sandbox, config: Mapping[str, Any], state: dict[str, Any] | None = None
) -> Outcome:
    """Run the tap in this process, over real HTTP, and look for the key."""
    target, log = Target(), io.StringIO()
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.DEBUG)
    # What the SDK says of each property of the catalog would be most of the log.
    logging.getLogger("singer_sdk.singerlib.catalog").setLevel(logging.INFO)
    error = None
    # Instead of those of pytest, as each handler looks for the key in each line.
    only_handler = mock.patch.object(root, "handlers", [logging.StreamHandler(log)])
    try:
        with only_handler:
            tap = TapLeadIntent(
                config={**CONFIG, "base_url": sandbox.url, **config},
                catalog=_leads_alone(),
                state=state,
                message_writer=target,  # type: ignore[arg-type] # it takes messages
            )
            tap.sync_all()
    except RunError as failed:
        error = failed.message
    finally:
        root.setLevel(level)
    assert_keeps_secret(API_KEY, target.text, log.getvalue(), str(error))
    return Outcome(target.ids, target.state, error, log.getvalue())


def struck(sandbox: Sandbox) -> list[int]:
    """Give the numbers of the pages that a fault struck."""
    return [
        request["page"]
        for request in sandbox.requests()
        if request["fault"] is not None
    ]
