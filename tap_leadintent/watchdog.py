"""Ends the process soon after a signal, whatever it is doing.

The run itself ends at a safe point (see `interruption`). It may not reach one: the
look-up of a host's address cannot be interrupted, and a write into a full pipe waits
until the target reads. While the target does read, what is being written goes out
whole.
"""

from __future__ import annotations

import os
import select
import signal
from _thread import start_new_thread
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

GRACE = 1.5
"""Seconds that a run has to end after a signal, or after its last write since then.

Less may not be enough to write a last STATE; more may let the sender of the signal lose
patience and send a SIGKILL.
"""


_writes = 0


def note_progress() -> None:
    """Note that a piece of the output has been written."""
    global _writes  # noqa: PLW0603 - a process has one watchdog
    _writes += 1


def watch() -> None:
    """End this process within `GRACE` of a signal, and at once at a second signal.

    A signal that comes before the run has set its own handler ends the process at once.
    """
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    # The interpreter itself writes to it, even while no Python code can run.
    signal.set_wakeup_fd(sender, warn_on_full_buffer=False)
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, _end_at_once)
    # Where the system allows no thread, a run still ends at its safe points.
    with suppress(RuntimeError):
        start_new_thread(_watch, (receiver,))


def _watch(receiver: int) -> None:
    (signum,) = os.read(receiver, 1)
    before, has_second = -1, False
    while _writes != before and not has_second:
        before = _writes
        has_second = bool(select.select([receiver], [], [], GRACE)[0])
    # Nothing is flushed: a line that is half written cannot be completed here.
    os._exit(128 + signum)


def _end_at_once(signum: int, _frame: FrameType | None) -> None:
    with suppress(OSError):
        os.write(2, f"Error: {signal.Signals(signum).name} before the run\n".encode())
    os._exit(128 + signum)
