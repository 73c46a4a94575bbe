"""The sandbox as a program."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import requests

from tap_leadintent.sandbox import running_sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tests.support.asking import HEADERS, SIZES, everything

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

MONTH = 30 * 86_400

COMMAND = [sys.executable, "-m", "tap_leadintent.sandbox"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_line_and_a_clean_end(number: signal.Signals) -> None:
    with subprocess.Popen(  # noqa: S603 - our own module
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        url = process.stdout.readline()
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("\n")
        address = url.strip() + ENDPOINTS["leads"].path
        answer = requests.post(address, json={}, headers=HEADERS, timeout=30)
        assert len(answer.json()["data"]) == 25
        process.send_signal(number)
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == 0


def test_options() -> None:
    with running_sandbox(
        *("--leads", "3", "--size", "observations=5", "--size", "signal_agents=0"),
        *("--seed", "9", "--clock", "2025-01-01T00:00:00Z", "--api-key", "other"),
        *("--since", "2024-12-31T00:00:00Z", "--history", "gaps", "--latency", "0.01"),
    ) as sandbox:
        assert sandbox.now() == "2025-01-01T00:00:00Z"
        assert len(sandbox.records("leads")) == 3
        assert len(sandbox.records("observations")) == 5
        assert len(sandbox.records("signal_agents")) == 0
        for times in sandbox.times("leads").values():
            assert times["found_at"].startswith("2024-12-31T")
        address = sandbox.url + ENDPOINTS["leads"].path
        headers = {"Authorization": "Bearer other"}
        answer = requests.post(address, json={}, headers=headers, timeout=30)
        assert answer.status_code == 200
        sandbox.configure(sizes={"observations": 6})
        assert len(sandbox.records("observations")) == 6
        assert len(sandbox.records("leads")) == 3


def test_faults_and_limits_from_the_start_on() -> None:
    with running_sandbox(
        *("--rate-limit", "0.5", "--order", "oldest", "--leads", "3"),
        *("--fault", '{"kind": "status", "status": 418, "times": 1}'),
    ) as sandbox:
        address = sandbox.url + ENDPOINTS["leads"].path
        headers = {"Authorization": "Bearer sandbox-key"}

        def status() -> int:
            answer = requests.post(address, json={}, headers=headers, timeout=30)
            return answer.status_code

        assert [status(), status()] == [418, 429]
        sandbox.configure(rate_limit=None)
        assert [status(), status()] == [200, 200]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--fault", '{"kind": "storm"}'), "Invalid value 'storm'"),
        (("--fault", "503"), "--fault"),
        (("--rate-limit", "0"), "requests_per_second"),
        (("--size", "unknown=3"), "unknown stream 'unknown'"),
        (("--size", "leads"), "--size"),
        (("--leads", "-1"), "0 to 1000000"),
        (("--clock", "now"), "RFC 3339"),
        (("--history", "odd"), "odd"),
    ],
)
def test_wrong_options(arguments: tuple[str, ...], complaint: str) -> None:
    ended = subprocess.run(  # noqa: S603 - our own module
        [*COMMAND, *arguments], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert complaint in ended.stderr
    assert ended.stdout == ""


def test_failed_start() -> None:
    with (
        pytest.raises(RuntimeError, match="exit code 2"),
        running_sandbox("--leads", "-1"),
    ):
        pass


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_its_extra_it_says_what_to_install(package: str) -> None:
    program = (
        f"import runpy, sys; sys.modules['{package}'] = None; "
        "runpy.run_module('tap_leadintent.sandbox', run_name='__main__')"
    )
    ended = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"sandbox: {package}")
    assert line.endswith("is not installed; run pip install 'tap-leadintent[sandbox]'")


def test_same_in_another_process(sandbox: Sandbox) -> None:
    with running_sandbox() as other:
        other.configure(sizes=SIZES)
        assert everything(other) == everything(sandbox)
        sandbox.advance(MONTH)
        for _ in range(30):
            other.advance(MONTH / 30)
        assert everything(other) == everything(sandbox)
