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
    watch = _Watch(names)
    thread = Thread(target=watch.run, daemon=True)
    thread.start()
    try:
        yield watch.programs
    finally:
        watch.over.set()
        thread.join()


class _Watch:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._before = {process.pid: _cpu(process) for process in _started()}
        self.programs: dict[str, Program] = defaultdict(Program)
        self.over = Event()

    def run(self) -> None:
        while not self.over.wait(_PAUSE):
            self._look()
        self._look()

    def _look(self) -> None:
        called = {os.getpid(): ""}
        memory: dict[str, int] = defaultdict(int)
        # Parents come before their children.
        for process in _started():
            with suppress(psutil.Error):
                name = self._name(process) or called.get(process.ppid(), "")
                called[process.pid] = name
                if name:
                    memory[name] += process.memory_info().rss
                    self._note(name, process)
        for name, held in memory.items():
            program = self.programs[name]
            program.peak_bytes = max(program.peak_bytes, held)

    def _name(self, process: psutil.Process) -> str:
        # The second word is the program where the first is an interpreter.
        words = [Path(word).name for word in process.cmdline()[:2]]
        return next((self._names[word] for word in words if word in self._names), "")

    def _note(self, name: str, process: psutil.Process) -> None:
        # A child begins with its parent's command line.
        for program in self.programs.values():
            program.cpu_by_process.pop(process.pid, None)
        taken = _cpu(process) - self._before.get(process.pid, 0)
        self.programs[name].cpu_by_process[process.pid] = taken


def _started() -> list[psutil.Process]:
    return [*psutil.Process().children(recursive=True)]


def _cpu(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0
