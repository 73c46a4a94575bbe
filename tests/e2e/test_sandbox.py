"""The sandbox as a program."""

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tap_leadintent.sandbox import Sandbox, running_sandbox
from tap_leadintent.sandbox.__main__ import main
from tests.support.asking import NOW, SIZES, everything, post
from tests.support.helpers import TIMEOUT
from tests.support.pages import ROOT, blocks, typed

DAY = 86_400
PAGE = ROOT / "docs" / "sandbox.md"


def test_the_commands_of_the_page_work(tmp_path: Path) -> None:
    # Only the port is another. The tap runs last, when the faults are set.
    _install, start, *others = blocks(PAGE.read_text(encoding="utf-8"), "sh")
    program, *arguments = shlex.split(start.replace("8000", "0"))
    assert program == "python"
    with subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        url = process.stdout.readline().decode().strip()
        lines = "\n".join((*others[1:], others[0]))
        printed = typed(lines.replace("http://127.0.0.1:8000", url), tmp_path)
        assert '"error": {' not in printed, "the sandbox refused"
        assert "attempt 2 of" in printed
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=TIMEOUT) == (b"", b"")
        assert process.returncode == 0


def test_options_and_the_same_records_in_another_process(server: Sandbox) -> None:
    with running_sandbox(
        "--leads",
        "3",
        "--size",
        "observations=5",
        "--seed",
        "9",
        "--clock",
        "2025-01-01T00:00:00Z",
        "--latency",
        "0.01",
        "--since",
        "2024-12-31T00:00:00Z",
        "--history",
        "office",
        "--rate-limit",
        "0.5",
        "--fault",
        '{"kind": "status", "status": 418, "times": 1}',
    ) as other:
        assert other.now() == "2025-01-01T00:00:00Z"
        records = everything(other)
        assert len(records["leads"]) == 3
        assert len(records["observations"]) == 5
        for times in other.times("leads").values():
            assert times["found_at"].startswith("2024-12-31T")
        assert post(other, "leads").status_code == 418
        assert post(other, "leads").status_code == 429

        other.configure(
            sizes=SIZES,
            clock=NOW,
            seed=1,
            history="uniform",
            since=None,
        )
        server.configure(
            sizes=SIZES,
            clock=NOW,
        )
        server.advance(30 * DAY)
        for _ in range(30):
            other.advance(DAY)
        assert everything(other) == everything(server)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fault", '{"kind": "storm"}'], "the fault's kind is not one of status, "),
        (["--size", "unknown=3"], "unknown stream 'unknown'"),
    ],
)
def test_wrong_options_are_refused(
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_a_sandbox_that_does_not_start_raises_an_error() -> None:
    with pytest.raises(RuntimeError, match="exit code 2"), running_sandbox("--leads"):
        pass
