from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]
import pytest

from tap_leadintent.demo import report
from tap_leadintent.demo.postgres import running_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 120


class Demo:
    """A demo in a process of its own, and all processes that belong to it."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "tap_leadintent.demo", "--output", output],
            env={**os.environ, "COLUMNS": "100", "DEMO_UNDER_TEST": str(output)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def finish(self) -> str:
        printed, _ = self.process.communicate(timeout=PATIENCE)
        return printed

    def family(self) -> dict[int, list[str]]:
        """Give the command line of each process, by its id."""
        data = str(self.output / "postgres")
        found = {}
        for process in psutil.process_iter(["cmdline", "environ"]):
            command = process.info["cmdline"] or []
            environ = process.info["environ"] or {}
            # PostgreSQL's processes may overwrite their environment.
            if environ.get("DEMO_UNDER_TEST") == str(self.output) or data in command:
                found[process.pid] = command
        return found

    def wait_for(self, program: str) -> int:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            for pid, command in self.family().items():
                if any(part.endswith(f"/bin/{program}") for part in command[:2]):
                    return pid
            time.sleep(0.02)
        pytest.fail(f"the demo did not start {program}: {self.finish()}")


@pytest.fixture
def demo() -> Iterator[Demo]:
    # Not tmp_path: pytest keeps closing its parent folder to all other users, and
    # PostgreSQL is another one when the tests run as root.
    with TemporaryDirectory() as folder:
        demo = Demo(Path(folder).resolve() / "the demo")
        yield demo
        if demo.process.poll() is None:
            demo.process.terminate()
            demo.finish()


def counts(printed: str) -> dict[str, list[int]]:
    lines = re.findall(r"^  (\w+)((?: +[\d,]+){3})$", printed, re.MULTILINE)
    return {
        table: [int(number.replace(",", "")) for number in numbers.split()]
        for table, numbers in lines
    }


def test_prints_what_the_database_holds(demo: Demo) -> None:
    printed = demo.finish()

    assert demo.process.returncode == 0, printed
    assert demo.family() == {}
    rows = counts(printed)
    assert len(rows) == 7
    assert rows["leads"][0] == 1234
    assert all(after - before == more >= 0 for before, after, more in rows.values())
    assert f"{rows['leads'][2]} new leads" in printed
    assert re.search(r"[1-9]\d* leads with a new signal", printed)
    with (
        running_postgres(demo.output / "postgres") as postgres,
        postgres.connect() as connection,
    ):
        held = report.row_counts(connection)
        ((ids, best),) = connection.execute(
            "SELECT count(DISTINCT id), max((score ->> 'value')::numeric)"
            " FROM tap_leadintent.leads"
        )
    assert held == {table: after for table, (_, after, _) in rows.items()}
    assert ids == rows["leads"][1]
    assert f"\n  {best} " in printed
    assert_log_is_short(demo.output / "meltano.log")


def assert_log_is_short(path: Path) -> None:
    """Assert that the tap says little in each run beside how far it has come."""
    log = path.read_text(encoding="utf-8")
    runs = [run.splitlines() for run in log.split("Running job with name")[1:]]
    assert len(runs) == 2
    for lines in runs:
        said = [line for line in lines if "] tap-leadintent " in line]
        progress = [line for line in said if " records a second" in line]
        assert len(progress) == 7
        assert len(said) - len(progress) < 10
        assert "METRIC" not in "".join(said)


@pytest.mark.parametrize("program", ["postgres", "uv", "target-postgres"])
def test_leaves_no_process_when_terminated(demo: Demo, program: str) -> None:
    demo.wait_for(program)
    demo.process.terminate()

    assert "Nothing that the demo started is left running" in demo.finish()
    assert demo.process.returncode == 128 + signal.SIGTERM
    assert demo.family() == {}


def test_shows_the_log_of_a_step_that_fails(demo: Demo) -> None:
    os.kill(demo.wait_for("target-postgres"), signal.SIGKILL)

    printed = demo.finish()
    assert demo.process.returncode == 1
    assert "The demo failed: meltano run" in printed
    assert "Loader failed" in printed
    assert demo.family() == {}
