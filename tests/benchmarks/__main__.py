"""The benchmark: `uv run --extra sandbox python -m tests.benchmarks`.

Prints a table in Markdown. With `--quick`, less is measured, and less exactly. With
`--into postgres` it measures loading instead of reading.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tap_leadintent.demo.postgres import running_postgres
from tap_leadintent.sandbox import running_sandbox

from .clients import Clients
from .experiments import (
    Scale,
    measure_latency,
    measure_loading,
    measure_memory,
    measure_peers,
    measure_start,
    measure_throttling,
    measure_work,
)
from .loading import Loading
from .table import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXPERIMENTS = (
    measure_latency,
    measure_work,
    measure_peers,
    measure_memory,
    measure_start,
    measure_throttling,
)


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--quick", action="store_true", help="2,000 leads, one round")
    parser.add_argument("--into", choices=["postgres"], help="load the leads there")
    arguments = parser.parse_args()
    leads = 50_000 if arguments.into else 20_000
    scale = Scale(2_000, rounds=1) if arguments.quick else Scale(leads, rounds=5)
    with tempfile.TemporaryDirectory() as folder:
        measure = _measure_loading if arguments.into else _measure_reading
        for line in measure(Path(folder), scale):
            print(line, flush=True)


def _measure_reading(folder: Path, scale: Scale) -> Iterator[str]:
    clients = Clients(folder)
    rows = (row for measure in _EXPERIMENTS for row in measure(clients, scale))
    yield from markdown(rows, clients.versions())


def _measure_loading(folder: Path, scale: Scale) -> Iterator[str]:
    # PostgreSQL has a user of its own when this one is root.
    folder.chmod(0o755)
    with (
        running_postgres(folder / "data") as postgres,
        running_sandbox("--leads", str(scale.leads)) as sandbox,
    ):
        loading = Loading(folder, postgres, sandbox, scale.leads)
        yield from markdown(measure_loading(loading, scale), loading.versions())


if __name__ == "__main__":
    main()
