"""Lines about fields that a stream's columns could not hold."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.log import Secret
from tap_leadintent.openapi import is_documented
from tap_leadintent.records.notes import RecordNotes
from tests.support.helpers import STREAMS

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

LOGGER = logging.getLogger("notes")


def test_a_line_is_bounded_whatever_a_server_invents(
    caplog: pytest.LogCaptureFixture,
) -> None:
    notes = RecordNotes(LOGGER)
    for number in range(3_000):
        notes.without_column([f"{number}\n" * 500, "common"])
    notes.log(documented=True, show=Secret("key-of-tests").summarize)
    (record,) = caplog.records
    line = record.getMessage()
    assert "\n" not in line
    assert len(line) < 10_000
    assert "1000 fields are only" in line
    assert " and 975 more;" in line


def test_a_name_is_redacted_before_it_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    key = "key-of-tests-" * 20
    notes = RecordNotes(LOGGER)
    notes.without_column(["x" * 200 + key])
    notes.log(documented=True, show=Secret(key).summarize)
    assert "key" not in caplog.text


def test_a_run_says_one_line_a_stream(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.insert("leads", {"id": "odd", "title": 7, "new": 1, "newer": 2})
    sandbox.insert("monitored_leads", {"id": "odd", "observed": [1]})
    lines = tap(config).succeeded().stderr.splitlines()
    unknown = [line for line in lines if "only in additional_properties" in line]
    undocumented = [name for name in STREAMS if not is_documented(name)]
    assert len(unknown) == 1 + len(undocumented)
    (leads,) = (line for line in unknown if "'new'" in line)
    assert "2 fields are only in additional_properties: 'new', 'newer'" in leads
    assert "WARNING" in leads
    assert all("INFO" in line for line in unknown if line != leads)
    (odd,) = (line for line in lines if "contradict" in line)
    assert "'title' in 1 record" in odd
    warned = {line for line in lines if "WARNING" in line and "clock" not in line}
    assert warned == {leads, odd}
