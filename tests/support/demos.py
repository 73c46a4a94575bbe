"""The demo in a process of its own."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 120
"""Seconds until a demo must have done what is awaited."""


class Demo:
    """A demo in a process of its own, and all processes that belong to it."""

    def __init__(
        self, folder: Path, python: Path, *options: str, **variables: str
    ) -> None:
        own = {"COLUMNS": "100", "DEMO_UNDER_TEST": str(folder), **variables}
        self.folder = folder
        self.printed = ""
        self.process = subprocess.Popen(  # noqa: S603
            [python, "-m", "tap_leadintent.demo", folder, *options],
            cwd=folder.parent,
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def finish(self) -> str:
        printed, _ = self.process.communicate(timeout=PATIENCE)
        return printed

    def wait_for(self, program: str) -> int:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            if pids := running(program, self.folder):
                return pids[0]
            time.sleep(0.1)  # each look is at all processes
        pytest.fail(f"the demo did not start {program}: {self.finish()}")


def family(folder: Path) -> dict[int, list[str]]:
    """Give the command line of each process of a demo, by its id."""
    data = str(folder / "postgres")
    found = {}
    for process in psutil.process_iter(["cmdline", "environ"]):
        command = process.info["cmdline"] or []
        environ = process.info["environ"] or {}
        # PostgreSQL's processes may overwrite their environment.
        if environ.get("DEMO_UNDER_TEST") == str(folder) or data in command:
            found[process.pid] = command
    return found


def running(program: str, folder: Path) -> list[int]:
    """Give the ids of a demo's processes that run a program."""
    return [
        pid
        for pid, command in family(folder).items()
        if any(part.endswith(f"/bin/{program}") for part in command[:2])
    ]


@contextmanager
def open_folder() -> Iterator[Path]:
    """Make a folder that every user may enter.

    Not one of pytest, which keeps closing their parent to all other users. PostgreSQL
    is another one when the tests run as root.
    """
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()
