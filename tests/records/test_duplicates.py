"""What was emitted last of a record and is unchanged is not emitted again."""

import json
import logging
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import Raw

from tap_leadintent.api.page import Page
from tap_leadintent.findings import Findings
from tap_leadintent.records.duplicates import Duplicates
from tests.support.helpers import Json, last_page


def page(*records: tuple[int, str]) -> tuple[list[Any], list[Raw]]:
    data = [{"id": f"{key}", "title": text} for key, text in records]
    body = json.dumps(last_page(*data))
    one = Page.of(body.encode())
    return one.decode().records, one.raw


def ids(rows: Iterable[Json]) -> list[str]:
    return [row["id"] for row in rows]


def test_the_first_130_000_records_are_remembered_with_their_changes() -> None:
    findings = Findings(logging.getLogger())
    duplicates = Duplicates(["id"], [], findings)

    def new(*records: tuple[int, str]) -> list[str]:
        return ids(duplicates.leave_out(*page(*records)))

    for first in range(0, 130_000, 1_000):
        numbers = range(first, first + 1_000)
        records = [(number, "a") for number in numbers]
        assert len(new(*records)) == 1_000
    assert new((130_000, "a")) == ["130000"]
    assert new((0, "a"), (129_999, "a")) == []
    assert new((130_000, "a"), (130_000, "a")) == ["130000", "130000"]
    assert new((0, "b"), (0, "b")) == ["0"]


def test_records_without_a_key_are_told_apart_by_their_content() -> None:
    duplicates = Duplicates(
        ["no_key"],
        [],
        Findings(logging.getLogger()),
    )
    rows = page(
        (0, "a"),
        (1, "a"),
        (0, "a"),
    )
    assert ids(duplicates.leave_out(*rows)) == ["0", "1"]


def test_keys_that_come_twice_with_other_contents(
    caplog: pytest.LogCaptureFixture,
) -> None:
    findings = Findings(logging.getLogger())
    duplicates = Duplicates(["id"], [], findings)
    duplicates.leave_out(
        *page(
            (0, "a"),
            (1, "a"),
            (0, "a"),
        )
    )
    duplicates.leave_out(*page((0, "b"), (2, "c")))
    findings.log()
    assert caplog.messages == [], "a copy, and a record that has changed"
    twice = page(
        (0, "b"),
        (2, "secret"),
        (0, "c"),
    )
    duplicates.check(*twice)
    three_times = page(
        (3, "x"),
        (3, "y"),
        (3, "z"),
    )
    duplicates.check(*three_times)
    findings.log()
    (line,) = caplog.messages
    assert line.startswith("A key came several times")
    assert "the records differ in title;" in line
