"""Warnings about records: each is logged once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tap_leadintent.records.warn_once import WarnOnce

if TYPE_CHECKING:
    import pytest


def test_the_same_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    warnings = WarnOnce(logging.getLogger("once"))
    for text in ("a", "b", "a", "100 % of it", "b"):
        warnings.warn(text)
    told = [record.getMessage() for record in caplog.records]
    assert told == ["a", "b", "100 % of it"]
