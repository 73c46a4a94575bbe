"""Runs a program as a user would, and says what that took."""

import os
import platform
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

from .clients import Client

_Key = TypeVar("_Key", bound="Hashable")
_Result = TypeVar("_Result")

_COUNT = """
grep -oE '"id": ?"lead_[^"]+"' output.jsonl >ids.txt
wc -l <ids.txt
sort -u ids.txt | wc -l
"""
"""Counts the leads in the output: how many, and how many different."""

_MAXRSS_BYTES = 1 if platform.system() == "Darwin" else 1024


class Scale(NamedTuple):
    """How much is measured.

    Attributes:
        leads: Leads of an ordinary history; a long one has 10 times as many.
        rounds: How often each client runs.
    """

    leads: int
    rounds: int


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        measure: What was measured, with its unit.
        client: What it was measured of.
        values: What each round gave, in that unit.
        notes: What else there is to say.
    """

    measure: str
    client: str
    values: Sequence[float]
    notes: str = ""

    def __str__(self) -> str:
        """Return the line in Markdown."""
        low, middle, high = min(self.values), median(self.values), max(self.values)
        return (
            f"| {self.measure} | {self.client} | {middle:.3g} | {low:.3g} to {high:.3g}"
            f" | {self.notes} |"
        )


class Usage(NamedTuple):
    """What a run took, with all its child processes.

    Attributes:
        seconds: Wall time.
        peak_bytes: Largest resident memory.
    """

    seconds: float
    peak_bytes: int


def run(client: Client, url: str, leads: int) -> Usage:
    """Run a client to its end. What it prints goes to a file, which is read later.

    Args:
        client: What to run.
        url: The sandbox's address.
        leads: How many leads the sandbox has, each of which the client must give once.

    Returns:
        What it took.

    Raises:
        RuntimeError: The client failed, or did not give each lead once.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        usage = run_command(client.prepare(folder, url), folder)
        count, different = _count(folder)
        # Beyond 130,000 leads, the tap emits those on the edges of windows twice.
        if different != leads or count > leads * 1.001:
            raise RuntimeError(
                f"{client.name} gave {different} of {leads} leads in {count} lines"
            )
    return usage


def outcome(client: Client, url: str, leads: int) -> str:
    """Run a client, and say what becomes of the leads.

    Args:
        client: What to run.
        url: The sandbox's address.
        leads: How many leads the sandbox has.

    Returns:
        Whether it gave all leads, or failed, or ended well with fewer.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            run_command(client.prepare(folder, url), folder)
        except RuntimeError:
            return "fails"
        _, different = _count(folder)
    if different == leads:
        return "all leads"
    return f"**{different:,} of {leads:,} leads**, exit code 0"


def run_command(command: Sequence[str], folder: Path) -> Usage:
    """Run a command in a folder, to which it prints; return what it took."""
    errors = folder / "errors.txt"
    with (folder / "output.jsonl").open("wb") as output, errors.open("wb") as problems:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(), stdout=output, stderr=problems
        )
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        logged = errors.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise RuntimeError(
            f"{' '.join(command)}: exit code {process.returncode}\n{logged}"
        )
    return Usage(seconds, used.ru_maxrss * _MAXRSS_BYTES)


def _environment() -> dict[str, str]:
    # Variables such as PYTHONUNBUFFERED would change what is measured.
    return {n: v for n, v in os.environ.items() if not n.startswith("PYTHON")}


def own_peak_bytes() -> int:
    """Return this process's own largest memory, below which no child's is known.

    A child begins as a copy of this process, and the kernel counts that too.
    """
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_BYTES


def interleaved(
    rounds: int, runs: Mapping[_Key, Callable[[], _Result]]
) -> dict[_Key, list[_Result]]:
    """Run everything once to warm up, then everything in turn, several times.

    Args:
        rounds: How many times.
        runs: What to run, by any key.

    Returns:
        The results of each, without those of the warm-up.
    """
    for once in runs.values():
        once()
    results: dict[_Key, list[_Result]] = {key: [] for key in runs}
    for _ in range(rounds):
        for key, once in runs.items():
            results[key].append(once())
    return results


def _count(folder: Path) -> tuple[int, int]:
    # Another process, as what it remembers would count as memory of the next client.
    command = ["/bin/sh", "-c", _COUNT]
    count, different = subprocess.check_output(command, cwd=folder, text=True).split()
    return int(count), int(different)
