"""Watches the programs that this process has started: what each of them takes."""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PAUSE = 0.2
"""Seconds between looks. What a process takes after the last look is not seen; more
looks would take processor time from what is measured."""


@dataclass
class Program:
    """What the processes of a program have taken.

    Attributes:
        cpu_by_process: Seconds of processor time, of the user and of the system.
        peak_bytes: Largest resident memory of all at once; what they share counts for
            each.
    """

    cpu_by_process: dict[int, float] = field(default_factory=dict)
    peak_bytes: int = 0

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all its processes."""
        return sum(self.cpu_by_process.values())


@contextmanager
def watching(names: Mapping[str, str]) -> Iterator[dict[str, Program]]:
    """Watch the children of this process, and theirs, for as long as the context.

    Args:
        names: What programs are called, by their file's name. A process without a name
            counts as the nearest one above it; if none of those has a name, it is left
            out.

    Yields:
        What each program took, by what it is called; complete after the context.
    """
    before: dict[int, float] = {}
    for process in _started():
        with suppress(psutil.Error):
            before[process.pid] = _cpu(process)
    programs: dict[str, Program] = defaultdict(Program)
    over = Event()

    def watch() -> None:
        is_over = False
        while not is_over:
            is_over = over.wait(_PAUSE)
            _look(names, before, programs)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield programs
    finally:
        over.set()
        thread.join()


def _look(
    names: Mapping[str, str], before: Mapping[int, float], programs: dict[str, Program]
) -> None:
    called = {os.getpid(): ""}
    memory: dict[str, int] = defaultdict(int)
    # Parents come before their children.
    for process in _started():
        with suppress(psutil.Error):
            # The second word is the program where the first is an interpreter.
            words = [Path(word).name for word in process.cmdline()[:2]]
            above = called.get(process.ppid(), "")
            name = next((names[word] for word in words if word in names), above)
            called[process.pid] = name
            if name:
                memory[name] += process.memory_info().rss
                taken = _cpu(process) - before.get(process.pid, 0)
                # A child begins with its parent's command line.
                for program in programs.values():
                    program.cpu_by_process.pop(process.pid, None)
                programs[name].cpu_by_process[process.pid] = taken
    for name, held in memory.items():
        programs[name].peak_bytes = max(programs[name].peak_bytes, held)


def _started() -> list[psutil.Process]:
    return [*psutil.Process().children(recursive=True)]


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
