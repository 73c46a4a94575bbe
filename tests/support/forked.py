"""Processes that start at once: forks of one that has imported what they need.

Imports take most of the time of a short run. But for them, each is as good as any other
process: it has its own memory, standard streams, environment, signals and ending.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tests.support.helpers import TIMEOUT
from tests.support.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORKING = Path(__file__).with_name("forking.py")


class Process:
    """A process, with what tests use of `subprocess.Popen`."""

    def __init__(self, told: IO[bytes], stdout: IO[bytes] | None) -> None:
        """Wait until it has begun.

        Args:
            told: Gives its id and, once it has ended, its exit code.
            stdout: Its output.
        """
        self.pid = int(told.readline())
        self.stdout = stdout
        self.returncode: int | None = None
        self._told = told

    def poll(self) -> int | None:
        """Give its exit code if it has ended."""
        return self._await(0)

    def wait(self) -> int:
        """Wait for its end, and give its exit code."""
        if self._await(TIMEOUT) is None:
            self.kill()
        code = self._await(TIMEOUT)
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # It has ended since.
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _await(self, timeout: float) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            with self._told:
                self.returncode = int(self._told.readline())
        return self.returncode


class Forks:
    """Starts processes as forks of one."""

    def __init__(self, command: Sequence[str | Path], preparation: str) -> None:
        """Start that one.

        Args:
            command: A Python interpreter.
            preparation: Code that imports what all need.
        """
        self._requests, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._server = subprocess.Popen(  # noqa: S603 - our own code
                [*command, _FORKING, str(number), preparation],
                pass_fds=[number],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(self._close)

    def start(
        self,
        code: str,
        arguments: Sequence[str],
        *,
        stdin: IO[bytes] | None = None,
        stdout: IO[bytes] | None = None,
        stderr: IO[bytes],
    ) -> Process:
        """Start a process.

        Args:
            code: What it runs.
            arguments: Its `sys.argv`.
            stdin: Its input; nothing, if absent.
            stdout: Its output; a pipe that is `stdout` of the process, if absent.
            stderr: Its errors.
        """
        request = {
            "code": code,
            "arguments": arguments,
            "environment": {**os.environ},
            "folder": str(Path.cwd()),
        }
        read, write = os.pipe() if stdout is None else (None, os.dup(stdout.fileno()))
        told, tell = os.pipe()
        with Path(os.devnull).open("rb") as nothing:
            socket.send_fds(
                self._requests,
                [json.dumps(request).encode() + b"\n"],
                [(stdin or nothing).fileno(), write, stderr.fileno(), tell],
            )
        os.close(write)
        os.close(tell)
        output = None if read is None else os.fdopen(read, "rb")
        return Process(os.fdopen(told, "rb", buffering=0), output)

    def _close(self) -> None:
        self._requests.close()
        self._server.wait()


def start_tap(
    *arguments: str, module: str = "tap_leadintent", stderr: IO[bytes]
) -> Process:
    """Start `python -m tap_leadintent` with these arguments, or another module.

    Its output is a pipe.
    """
    run = f"import runpy; runpy.run_module({module!r}, None, '__main__', True)"
    read_at_its_start = {
        name: value for name, value in os.environ.items() if name.startswith("PYTHON")
    }
    forks = _taps(tuple(sorted(read_at_its_start.items())))
    return forks.start(run, [module, *arguments], stderr=stderr)


@cache
def _taps(_variables: tuple[tuple[str, str], ...]) -> Forks:
    """Start what has the tap's imports, in the environment as it is."""
    place = f"import sys; sys.path[0] = {str(ROOT)!r}"
    return Forks([sys.executable], f"{place}; import tap_leadintent.tap")
