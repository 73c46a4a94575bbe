"""The sandbox as a program."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tap_leadintent.sandbox import Sandbox, running_sandbox
from tests.support.asking import NOW, SIZES, everything, post
from tests.support.helpers import TIMEOUT
from tests.support.pages import ROOT, shell_blocks

if TYPE_CHECKING:
    from pathlib import Path

MONTH = 30 * 86_400
COMMAND = [sys.executable, "-m", "tap_leadintent.sandbox"]
PAGE = ROOT / "docs" / "sandbox.md"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_page_as_it_stands(tmp_path: Path, number: signal.Signals) -> None:
    """Run each of its commands, but for the port; the tap then meets the faults."""
    start, *others = shell_blocks(PAGE.read_text(encoding="utf-8"))
    program, *arguments = shlex.split(start.replace("8000", "0"))
    assert program == "python"
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        url = process.stdout.readline().decode().strip()
        for block in (*others[1:], others[0]):
            ran = subprocess.run(  # noqa: S603 - what the page says
                ["/bin/bash", "-ec", block.replace("http://127.0.0.1:8000", url)],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                capture_output=True,
                check=False,
                encoding="utf-8",
                timeout=TIMEOUT,
            )
            assert ran.returncode == 0, ran.stderr
            assert '"error"' not in ran.stdout
        assert "try 2 of" in ran.stderr
        process.send_signal(number)
        assert process.communicate(timeout=TIMEOUT) == (b"", b"")
        assert process.returncode == 0


def test_options() -> None:
    with running_sandbox(
        *("--leads", "3", "--size", "observations=5", "--size", "signal_agents=0"),
        *("--seed", "9", "--clock", "2025-01-01T00:00:00Z", "--latency", "0.01"),
        *("--since", "2024-12-31T00:00:00Z", "--history", "office"),
        *("--rate-limit", "0.5", "--retry-after", "3"),
        *("--fault", '{"kind": "status", "status": 418, "times": 1}'),
    ) as sandbox:
        assert sandbox.now() == "2025-01-01T00:00:00Z"
        sizes = {stream: len(shown) for stream, shown in everything(sandbox).items()}
        assert sizes | {"leads": 3, "observations": 5, "signal_agents": 0} == sizes
        for times in sandbox.times("leads").values():
            assert times["found_at"].startswith("2024-12-31T")
        assert [post(sandbox, "leads").status_code for _ in range(2)] == [418, 429]
        sandbox.configure(rate_limit=None)
        assert post(sandbox, "leads").status_code == 200


def test_wrong_options() -> None:
    ended = subprocess.run(  # noqa: S603 - our own module
        [*COMMAND, "--clock", "now"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "not an RFC 3339 date-time" in ended.stderr


def test_same_in_another_process(sandbox: Sandbox) -> None:
    sandbox.configure(sizes=SIZES, clock=NOW)
    with running_sandbox("--clock", NOW) as other:
        other.configure(sizes=SIZES)
        assert everything(other) == everything(sandbox)
        sandbox.advance(MONTH)
        for _ in range(30):
            other.advance(MONTH / 30)
        assert everything(other) == everything(sandbox)


def test_latency_overlaps(sandbox: Sandbox) -> None:
    sandbox.configure(latency_seconds=2)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(sandbox, "leads"), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    arrived = [entry["time"] for entry in sandbox.requests()]
    assert max(arrived) - min(arrived) < 2, "they waited at the same time"
