"""What loading into PostgreSQL takes, beside other ways to do it."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tap_leadintent.demo.postgres import running_postgres
from tap_leadintent.sandbox import running_sandbox

from .clients import CLOCK
from .loading import WORKERS, Loading
from .measure import interleaved, ratio
from .table import Row, markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .processes import Program


def table(leads: int, rounds: int) -> Iterator[str]:
    """Measure what it takes until the leads are in PostgreSQL.

    Args:
        leads: How many there are.
        rounds: How often each way is measured.

    Yields:
        A table in Markdown, line after line.
    """
    with (
        TemporaryDirectory() as name,
        running_sandbox(*CLOCK, "--leads", str(leads)) as sandbox,
    ):
        folder = Path(name)
        # PostgreSQL has a user of its own when this one is root.
        folder.chmod(0o755)
        with running_postgres(folder / "data") as postgres:
            loading = Loading(folder, postgres, sandbox, leads)
            yield from markdown(_rows(loading, leads, rounds), loading.versions())


def _rows(loading: Loading, leads: int, rounds: int) -> Iterator[Row]:
    pipe, meltano = "this tap \\| target-postgres", "meltano run"
    dlt = f"dlt, {WORKERS} workers, JSON columns, merge"
    ways = {pipe: loading.pipe, meltano: loading.meltano, dlt: loading.dlt}
    results = interleaved(rounds, ways)
    seconds = {way: [loaded.seconds for loaded in results[way]] for way in ways}
    notes = {pipe: "target: at most 0.95; "}
    for way, loads in results.items():
        yield Row(
            measure=f"Seconds for {leads:,} leads into PostgreSQL",
            client=way,
            values=seconds[way],
            ratio=f"{ratio(seconds[way], seconds[dlt]):.2f} x dlt",
            notes=notes.get(way, "") + _shares([loaded.programs for loaded in loads]),
        )


def _shares(runs: Sequence[Mapping[str, Program]]) -> str:
    """Say what each program took, by the medians of all runs."""
    told = []
    for name in sorted(runs[0]):
        cpu = median(programs[name].cpu_seconds for programs in runs)
        peak = median(programs[name].peak_bytes for programs in runs)
        told.append(f"{name} {cpu:.1f} s and {peak / 1e6:.0f} MB")
    return "processor time and peak memory: " + ", ".join(told)
