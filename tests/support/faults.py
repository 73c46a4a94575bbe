"""The faults of a hostile network, and runs of the tap under them."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from unittest import mock

from tap_leadintent.errors import RunError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, assert_keeps_secret, entries, only
from tests.support.runs import CLOCK, after_since, instant
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
    "windows in turn": {"start_date": BEGIN, "end_date": CLOCK, "concurrency": 1},
    "windows at once": {"start_date": after_since(-31), "concurrency": 8},
}
"""How leads are read."""


def status(code: int, **more: Any) -> Rule:
    return {"kind": "status", "status": code, **more}


PASSING: dict[str, Rule] = {
    "500": status(500),
    "429": status(429, headers={"Retry-After": "0.01"}),
    "reset": {"kind": "reset"},
    "drop": {"kind": "drop"},
    "undecodable": {"kind": "undecodable"},
    "truncate": {"kind": "truncate"},
    "html": {"kind": "html"},
    "no data": {"kind": "body", "body": {"cursor": {"next": "", "has_more": False}}},
}
"""What another try may mend."""

SLOW: dict[str, Rule] = {
    "hang": {"kind": "hang", "seconds": 60},
    "drip": {"kind": "drip", "bytes": 1, "seconds": 0.02},
}
"""What only a bound on time ends."""


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
                # Reading the entries of all streams would take longer.
                catalog={"streams": [entries(only("leads"))["leads"]]},
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
