"""The kinds of messages that are said most, about a run of the leads alone."""

from __future__ import annotations

from typing import Any

from tests.support.helpers import only
from tests.support.messages.message import Message

LATER = "Run again later; the run goes on from its last state."
REPORT = "Report it to the API's support, with the message."


def leads() -> dict[str, Any]:
    """Give a catalog with the leads alone."""
    return only("leads")


def failed(text: str, cause: str, cure: str, **case: Any) -> Message:
    """Give what the last line says of a stream that failed."""
    told = f"1 of 1 streams failed: leads: {text}"
    return Message(text=told, cause=cause, cure=cure, **{"catalog": leads, **case})


def gave_up(text: str, cause: str, cure: str, **case: Any) -> Message:
    """Give what it says of a request that failed for a passing reason."""
    config = {"max_retries": 0, **case.pop("config", {})}
    return failed(f"…gave up after 1 try: {text}", cause, cure, config=config, **case)


def refused(status: int, text: str, cause: str, cure: str) -> Message:
    """Give what it says of a status that no retry would change."""
    faults = ({"kind": "status", "status": status},)
    return failed(f"HTTP {status} …: {text}: …", cause, cure, faults=faults)


def warning(text: str, cause: str, cure: str, **case: Any) -> Message:
    """Give a warning of a run that succeeds."""
    case = {"level": "WARNING", "code": 0, "catalog": leads, **case}
    return Message(text=text, cause=cause, cure=cure, **case)
