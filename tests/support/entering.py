"""The tap, entered with files."""

from __future__ import annotations

import json

from tests.support.helpers import (
    API_KEY,
    VALID,
    assert_keeps_secret,
    enter,
    refusal,
)

TEXT = json.dumps(VALID)


def nested(levels: int) -> str:
    """Write so many lists, one within the other, as JSON."""
    return "[" * levels + "]" * levels


def failed(*arguments: str) -> list[str]:
    """Enter the tap; give the lines with which it fails."""
    result = enter(*arguments)
    assert_keeps_secret(API_KEY, result.output)
    return refusal(result)


def run(*arguments: str) -> str:
    """Enter the tap; give the one line with which it fails."""
    (line,) = failed(*arguments)
    return line
