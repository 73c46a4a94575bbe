"""Child processes that end together with the demo."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class DemoError(Exception):
    """A step of the demo failed. The message says which one, and why."""


def stop_on_signals() -> None:
    """Install handlers that raise SystemExit at the first signal to end.

    The exit code is 128 plus the number of the signal. The exception closes all
    contexts. Further signals are ignored meanwhile, so that a second Ctrl-C does not
    leave a server running.
    """
    for number in _SIGNALS:
        # A signal stays ignored, as SIGHUP is under `nohup`.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


@contextmanager
def child(
    command: Sequence[str | Path],
    *,
    stop: signal.Signals = signal.SIGTERM,
    **options: Any,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in its own process group, which ends with the context.

    Args:
        command: The program and its arguments.
        stop: The signal that asks the group to end.
        options: Further options of `subprocess.Popen`.

    Yields:
        The process.
    """
    options = {
        "stdin": subprocess.DEVNULL,
        "start_new_session": True,
        **options,
    }
    process = subprocess.Popen(command, **options)  # noqa: S603
    try:
        yield process
    finally:
        # The second signal ends the processes of the group that ignored the first one.
        # macOS refuses to signal a group that consists of zombies.
        for number in (stop, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(15)


def last_lines(path: Path) -> str:
    """Return the last lines of a log, indented."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-20:])
