"""What becomes of the leads if the API answers in other ways than expected."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tap_leadintent.sandbox import running_sandbox

from .clients import CLOCK, Clients
from .measure import outcome

_LEADS = 4_000

_ONCE = {"times": 1, "skip": 8}
"""One page in the middle."""

_FAULTS: dict[str, dict[str, Any]] = {
    "Nothing else": {"kind": "status", "times": 0},
    "HTTP 503, three times": {"kind": "status", "status": 503, "times": 3},
    "An empty page, and more behind it": {"kind": "empty_page", "pages": [2]},
    "HTTP 200 with an error, once": {"kind": "status", "status": 200, **_ONCE},
    "A page of JSON that is cut off, once": {"kind": "truncate", **_ONCE},
    "HTTP 200 with empty lists, once": {
        "kind": "status",
        "status": 200,
        "body": {"data": [], "cursor": {}},
        **_ONCE,
    },
    "Each query ends after 300 leads": {"kind": "cap", "records": 300},
    "A longer range than 30 days is cut": {"kind": "cut_range", "days": 30},
}


def lines(folder: Path) -> Iterator[str]:
    """Yield a line of the table for each fault.

    Args:
        folder: For the clients' environments.
    """
    clients = Clients(folder)
    read = [clients.tap(8), clients.dlt(8), clients.airbyte(8)]
    names = [client.name for client in read]
    yield "| | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    with running_sandbox(*CLOCK, "--leads", str(_LEADS)) as sandbox:
        for name, fault in _FAULTS.items():
            outcomes = []
            for client in read:
                sandbox.faults(fault)
                outcomes.append(outcome(client, sandbox.url, _LEADS))
            yield f"| {name} | " + " | ".join(outcomes) + " |"
