"""Child processes that end with the demo, however it ends."""

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
    """A step failed; the message says which, and why."""


def stop_on_signals() -> None:
    """Raise SystemExit at the first signal that ends a program.

    Its code is 128 and the signal's number. Contexts are then left in order. Further
    signals are ignored meanwhile, so that an impatient second Ctrl-C does not leave
    a server behind.
    """
    for number in _SIGNALS:
        # `nohup` has SIGHUP ignored.
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
    """Run a command in a process group of its own; end all of it with the context.

    Args:
        command: The program and its arguments.
        stop: Signal that asks it to end.
        options: Further ones of `subprocess.Popen`.

    Yields:
        The process.
    """
    options = {"stdin": subprocess.DEVNULL, "start_new_session": True, **options}
    process = subprocess.Popen(command, **options)  # noqa: S603
    try:
        yield process
    finally:
        # The second round is for whatever the first left of the group; macOS refuses
        # to signal a group of which only zombies are left.
        for number in (stop, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(15)


def last_lines(path: Path) -> str:
    """Give the end of a log, indented."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-20:])
