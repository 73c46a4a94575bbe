"""What is worth a line about a stream: bounded, printable and once."""

import logging

import pytest

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.singer.log import hide
from tests.support.helpers import API_KEY


def test_a_line_is_bounded_and_printable_whatever_a_server_returns(
    caplog: pytest.LogCaptureFixture,
) -> None:
    findings = Findings(logging.getLogger("findings"), is_documented=True)
    for number in range(3_000):
        names = [f"{number}\n{API_KEY}" * 500, "common"]
        findings.note(Finding.UNKNOWN_FIELDS, names)
    names = ["a_name_of_more_than_20_letters", API_KEY.encode().hex()]
    findings.note(Finding.UNKNOWN_FIELDS, names)
    hide(API_KEY)
    findings.log()
    (line,) = caplog.messages
    assert line.startswith(
        "1,000 fields without a column, only in additional_properties: 0"
    )
    assert len(line) < 1_300
    assert "\n" not in line
    assert API_KEY[:8] not in line


def test_each_finding_is_logged_once_with_all_its_names(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    findings = Findings(logging.getLogger("findings"), is_documented=True)
    for page in ([], ["total"], ["total", "took"]):
        findings.note(Finding.ENVELOPE, page)
    findings.log()
    assert caplog.messages == [
        "Pages of the API also have took, total, which its description does not show"
    ]
