"""Child processes that end with the demo, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import FrameType

_PATIENCE = 15
_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class DemoError(Exception):
    """A step failed; the message says which, and why."""


class StoppedError(BaseException):
    """A signal asks the demo to end; not an Exception, as KeyboardInterrupt is not."""

    def __init__(self, number: int) -> None:
        """Keep the signal's number."""
        super().__init__(number)
        self.number = number


def stop_on_signals() -> None:
    """Turn the signals that end a program into one `StoppedError`.

    Contexts are then left in order. Further signals are ignored meanwhile, so that
    an impatient second Ctrl-C does not leave a server behind.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    _ignore_signals()
    raise StoppedError(number)


def _ignore_signals() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def undisturbed_exit() -> Iterator[None]:
    """Ignore signals once this context ends; to be entered after all others."""
    try:
        yield
    finally:
        _ignore_signals()


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
    process = subprocess.Popen(command, start_new_session=True, **options)  # noqa: S603
    try:
        yield process
    finally:
        _end(process, stop)


def _end(process: subprocess.Popen[bytes], stop: signal.Signals) -> None:
    # The second round is for whatever the first left of the group; macOS refuses to
    # signal a group of which only zombies are left.
    for number in (stop, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)


def last_lines(path: Path, count: int = 20) -> str:
    """Give the end of a log.

    Args:
        path: A text file.
        count: How many lines.

    Returns:
        The lines, indented.
    """
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-count:])
