"""The command: its output, its exit codes, its requests, its estimate."""

import json
import re
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from tap_leadintent.checkup.check import QUESTIONS
from tap_leadintent.sandbox import Sandbox, running_sandbox
from tap_leadintent.words import counted
from tests.support.helpers import (
    API_KEY,
    STREAMS,
    Json,
    Run,
    RunTap,
    declared_stream,
    options,
    status,
)
from tests.support.pages import text_of
from tests.support.runs import CLOCK

Check = Callable[..., Run]


@pytest.mark.parametrize("arguments", [(), ("--json",)], ids=["text", "json"])
def test_no_output_holds_a_value_of_a_record(
    check: Check,
    sandbox: Sandbox,
    settings: Json,
    arguments: tuple[str, ...],
) -> None:
    sandbox.configure(api_key=API_KEY, sizes=dict.fromkeys(STREAMS, 40))
    sandbox.faults({"kind": "two_sheets", "pages": "last"}, {"kind": "page"})
    run = check(settings, *arguments)
    printed = run.stdout + run.stderr
    words = {*re.split(r"[^\w.:@/-]+", printed)}
    text = json.dumps([*map(sandbox.records, STREAMS)], ensure_ascii=False)
    own = {"leads", "detected"}
    values: set[str] = set()
    for each, colon in re.findall(r'"([^"\\]+)"(:?)', text):
        if colon:
            own.add(each)
        else:
            values.add(each)
    values -= own
    assert len(values) > 1000
    for value in values:
        if len(value) > 8:
            assert value not in printed
        else:
            assert value not in words


def test_exit_codes(
    check: Check,
    sandbox: Sandbox,
    settings: Json,
) -> None:
    # The clock of the sandbox is set, so a difference is to be expected.
    assert check(settings, "--max-requests", "1").code == 1
    right_clock = {
        "kind": "wrong_clock",
        "seconds": ahead_of_the_sandbox(),
    }
    sandbox.faults(right_clock)
    ordinary = check(settings)
    assert ordinary.code == 0
    assert "Suggested settings" not in ordinary.stdout
    sandbox.faults(status(401, body={"error": "PRIVATE"}))
    sandbox.clear_requests()
    refused = check(settings)
    assert (refused.code, refused.stdout) == (2, "")
    assert "signal_agents, leads: set api_key" in refused.stderr.splitlines()[-1]
    assert len(sandbox.requests()) == 2
    misspelled = {
        **settings,
        "page_sise": 5,
        "base_url": None,
    }
    wrong = check(misspelled)
    assert (wrong.code, wrong.stdout) == (2, "")
    first, second = wrong.stderr.splitlines()
    assert first.endswith("did you mean page_size?")
    assert second.startswith("Error: base_url: is not set; ")


def test_the_rest_is_printed_if_a_range_is_not_answered(
    check: Check,
    sandbox: Sandbox,
    settings: Json,
) -> None:
    check(settings, "--stream=leads")
    ranges = ["latest_signal" in request["body"] for request in sandbox.requests()]
    fault = status(
        401,
        stream="leads",
        skip=ranges.index(True),
        times=1,
    )
    sandbox.faults(fault)
    run = check(settings, "--stream=leads")
    assert run.code == 1
    printed = " ".join(run.stdout.split())
    assert "Is it rounded? May it" in printed
    assert "year wide? cannot be settled: HTTP 401 (leads.latest_signal)" in printed


def ahead_of_the_sandbox() -> int:
    return int((datetime.now(UTC) - datetime.fromisoformat(CLOCK)).total_seconds())


@pytest.mark.parametrize("most", [1, 40, 150])
def test_no_more_requests_are_sent_than_allowed(
    check: Check,
    sandbox: Sandbox,
    settings: Json,
    most: int,
) -> None:
    fault = status(
        503,
        rate=0.2,
        skip=1,
    )
    sandbox.faults(fault)
    patient = {**settings, "max_retries": 8}
    run = check(patient, "--max-requests", f"{most}")
    sent = len(sandbox.requests())
    assert sent <= most
    assert f", {counted(sent, 'request')} in " in run.stdout
    if most < 150:
        message = "cannot be settled: no requests are left; see --max-requests"
        assert message in run.stdout


def test_the_estimate_of_all_streams_is_close_to_a_run(
    check: Check,
    tap: RunTap,
    sandbox: Sandbox,
    settings: Json,
) -> None:
    report = json.loads(check(settings, "--json").stdout)
    sandbox.clear_requests()
    run = tap(settings).succeeded()
    estimated = {each[0]: each for each in report["estimate"]}
    assert estimated.keys() == {*STREAMS}
    for name in STREAMS:
        rows = len(run.records(name))
        assert rows / 1.5 <= estimated[name][2] <= rows * 1.5, name
    requests, _ = report["total"][0]
    sent = len(sandbox.requests())
    assert sent / 1.5 <= requests <= sent * 1.5


def test_one_line_says_what_several_streams_need(
    check: Check,
    sandbox: Sandbox,
    settings: Json,
) -> None:
    sandbox.faults(
        status(403, stream="custom_signals"),
        status(403, stream="observations"),
        {"kind": "ignored_range"},
    )
    run = check(settings)
    _, _, to_do = run.stdout.partition("\nWhat to do\n")
    lines = to_do.splitlines()
    # A second command for the same setting would undo the first one.
    assert lines[0].endswith(
        "meltano config set tap-leadintent _select "
        """'["*.*", "!observations.*", "!custom_signals.*"]'"""
    )
    refused = {"custom_signals", "observations"}
    with_range: list[str] = []
    for name in STREAMS:
        stream = declared_stream(name)
        if stream.is_incremental and name not in refused:
            with_range.append(name)
    assert lines[1] == (
        f"  for stream in {' '.join(with_range)}; do meltano config set "
        "tap-leadintent _metadata $stream replication-method FULL_TABLE; done"
    )
    assert lines[2] == "  correct the clock that is wrong"
    assert not lines[3].startswith("  ")


def test_what_is_not_selected_is_not_asked(
    check: Check,
    sandbox: Sandbox,
    settings: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox.faults(
        status(403, stream="custom_signals"),
        {"kind": "wrong_clock", "seconds": ahead_of_the_sandbox()},
    )
    assert "!custom_signals.*" in check(settings).stdout
    selected = '["*.*", "!custom_signals.*"]'
    monkeypatch.setenv("MELTANO_EXTRACT__SELECT", selected)
    sandbox.clear_requests()
    assert check(settings).code == 0
    asked = {request["stream"] for request in sandbox.requests()}
    assert asked == {*STREAMS} - {"custom_signals"}
    monkeypatch.setenv("MELTANO_EXTRACT__SELECT", '["!leads.*"]')
    assert "Error: _select: selects no stream" in check(settings).stderr


def test_questions_leave_requests_for_the_estimate(
    check: Check,
    settings: Json,
    history: Callable[..., None],
) -> None:
    history(sizes=dict.fromkeys(STREAMS, 700))
    report = json.loads(check(settings, "--json").stdout)
    assert {each[0] for each in report["estimate"]} == {*STREAMS}


def answer(*records: Any, **more: Any) -> Json:
    """Return the body of a page."""
    return {
        "data": records,
        "cursor": {"has_more": False},
        **more,
    }


def test_a_server_of_another_kind_is_checked(
    check: Check,
    sandbox: Sandbox,
    config: Json,
) -> None:
    """Its records have no id and few fields, and it knows no range and no `Date`."""
    records = [{"email": f"{n}@example.com"} for n in range(5)]
    body = answer(*records, warnings=["slow"])
    fault = status(
        200,
        body=body,
        headers={"Date": ""},
    )
    sandbox.faults(fault)
    run = check(config)
    assert run.code == 1
    assert "responses have no Date header" in run.stdout
    assert "Is it obeyed? no, it is ignored\n" in run.stdout
    assert "Fields beside data and cursor? always the same: warnings" in run.stdout
    assert "5 have no id (signal_agents, leads)" in run.stdout
    assert "example.com" not in run.stdout


def test_a_list_that_grows_keeps_its_order(
    check: Check,
    sandbox: Sandbox,
    config: Json,
) -> None:
    newest_first = [{"id": f"{n}"} for n in range(12, 0, -1)]
    first = status(
        200,
        body=answer(*newest_first[1:]),
        times=1,
    )
    later = status(200, body=answer(*newest_first))
    sandbox.faults(first, later)
    run = check(config, "--stream=leads")
    assert "Is the order always the same? yes" in run.stdout


def test_a_record_that_cannot_be_read_is_left_out(
    check: Check,
    sandbox: Sandbox,
    config: Json,
) -> None:
    body = answer({"id": "a"}, "PRIVATE")
    sandbox.faults(status(200, body=body))
    run = check(config, "--stream=leads")
    assert "May the key read it? yes" in run.stdout
    assert "PRIVATE" not in run.stdout + run.stderr


def test_ctrl_c_ends_it_with_what_it_knows(tmp_path: Path) -> None:
    with running_sandbox("--api-key", API_KEY, "--latency", "0.05") as sandbox:
        config = {
            "base_url": sandbox.url,
            "api_key": API_KEY,
        }
        code = "from tap_leadintent.checkup.cli import main; main()"
        command = [sys.executable, "-c", code, *options(tmp_path, config=config)]
        with Popen(  # noqa: S603
            command,
            stdout=PIPE,
            stderr=PIPE,
            text=True,
        ) as process:
            assert process.stderr
            while "Time ranges" not in process.stderr.readline():
                pass
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate()
    assert process.returncode == 130
    assert "May the key read it? yes" in printed
    assert printed.endswith("Interrupted: the other questions were not asked.\n")


def test_the_page_about_missing_rows_names_questions() -> None:
    page = text_of("docs/missing-rows.md")
    named = {*re.findall(r"\(\*(.*?)\*\)", page)}
    assert named
    assert named <= {question.text for question in QUESTIONS.values()}


@pytest.mark.parametrize("stream", ["leads", "observations", "monitored_leads"])
def test_one_filled_stream_fits_on_a_screen(
    check: Check,
    sandbox: Sandbox,
    settings: Json,
    history: Callable[..., None],
    stream: str,
) -> None:
    sizes = {
        **dict.fromkeys(STREAMS, 0),
        stream: 250,
    }
    history(sizes=sizes)
    right_clock = {
        "kind": "wrong_clock",
        "seconds": ahead_of_the_sandbox(),
    }
    sandbox.faults(right_clock)
    run = check(settings)
    assert run.code == 0
    *lines, last = run.stdout.split("\nNot settled, ")
    assert len(run.stdout.splitlines()) <= 25
    # The streams without records are named once, at the end.
    for name in {*STREAMS} - {stream}:
        word = re.compile(rf"\b{name}\b")
        assert not word.search(lines[0]), name
        assert word.search(last), name
