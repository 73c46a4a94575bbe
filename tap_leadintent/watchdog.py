"""Ends the process soon after a signal, whatever it is doing.

The run itself ends at a safe point (see `interruption`). It may not come to one: a
lookup of a host's address cannot be interrupted, and a write into a full pipe waits
for as long as nobody reads.
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
"""Seconds that a run has to end after a signal.

Enough to finish a line and write a last STATE, and less than what whoever sent the
signal waits before a SIGKILL.
"""


def watch() -> None:
    """End this process at a signal: within `GRACE`, and at once at a second one.

    Until a handler of the run replaces it, a signal ends the process at once.
    """
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    # Written to by the interpreter itself, also while no Python code can run.
    signal.set_wakeup_fd(sender, warn_on_full_buffer=False)
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, _end_at_once)
    # Where the system allows no thread, a run still ends at its safe points.
    with suppress(RuntimeError):
        start_new_thread(_watch, (receiver,))


def _watch(receiver: int) -> None:
    (signum,) = os.read(receiver, 1)
    select.select([receiver], [], [], GRACE)
    # Nothing is flushed: what is half written cannot be mended.
    os._exit(128 + signum)


def _end_at_once(signum: int, _frame: FrameType | None) -> None:
    with suppress(OSError):
        os.write(2, f"Error: {signal.Signals(signum).name} before the run\n".encode())
    os._exit(128 + signum)
