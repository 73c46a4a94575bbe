"""Lines about fields that a stream's columns could not hold."""

import logging

import pytest

from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.singer.log import hide
from tests.support.helpers import API_KEY


def test_a_line_is_bounded_and_printable_whatever_a_server_returns(
    caplog: pytest.LogCaptureFixture,
) -> None:
    notes = RecordNotes(logging.getLogger("notes"))
    for number in range(3_000):
        notes.note_without_column([f"{number}\n{API_KEY}" * 500, "common"])
    notes.note_without_column(
        ["a_name_of_more_than_20_letters", API_KEY.encode().hex()]
    )
    hide(API_KEY)
    notes.log(documented=True)
    (record,) = caplog.records
    line = record.getMessage()
    assert line.startswith(
        "1,000 fields without a column, only in additional_properties: '0"
    )
    assert len(line) < 1_200
    assert "\n" not in line
    assert API_KEY[:8] not in line


def test_undocumented_fields_beside_the_records(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    notes = RecordNotes(logging.getLogger())
    for page in ({"total": True}, {"total": True, "timed_out": False, "errors": True}):
        notes.note_envelope(page)
    notes.log(documented=True)
    (info, warning) = caplog.records
    assert "have timed_out, total," in info.getMessage()
    assert (warning.levelname, "have errors," in warning.getMessage()) == (
        "WARNING",
        True,
    )
