"""Lines about fields that a stream's columns could not hold."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tap_leadintent.log import Secret
from tap_leadintent.openapi import is_documented
from tap_leadintent.records.notes import RecordNotes
from tests.support.helpers import API_KEY, STREAMS

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run


def test_a_line_is_bounded_and_safe_whatever_a_server_invents(
    caplog: pytest.LogCaptureFixture,
) -> None:
    notes = RecordNotes(logging.getLogger("notes"))
    for number in range(3_000):
        notes.without_column([f"{number}\n{API_KEY}" * 500, "common"])
    notes.log(documented=True, show=Secret(API_KEY).summarize)
    (record,) = caplog.records
    line = record.getMessage()
    assert line.startswith("1000 fields are only in additional_properties: '0")
    assert len(line) < 1_200
    assert "\n" not in line
    assert API_KEY[:8] not in line


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
    assert "2 fields are only in additional_properties: 'new', 'newer'; " in leads
    assert "WARNING" in leads
    assert all("INFO" in line for line in unknown if line != leads)
    (odd,) = (line for line in lines if "contradict" in line)
    assert odd.endswith(": 'title' in 1 record")
    warned = {line for line in lines if "WARNING" in line and "clock" not in line}
    assert warned == {leads, odd}
