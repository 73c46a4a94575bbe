"""The benchmark: `uv run --extra sandbox python -m tests.benchmarks`.

Prints a table in Markdown. With `--quick`, less is measured, and less exactly. With
`--into postgres` it measures loading instead of reading.
"""

from __future__ import annotations

import argparse
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from .clients import Clients
from .experiments import (
    Scale,
    measure_histories,
    measure_latency,
    measure_memory,
    measure_start,
    measure_throttling,
    measure_work,
)
from .table import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXPERIMENTS = (
    measure_latency,
    measure_histories,
    measure_work,
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
    if arguments.into:
        # Not for the others: what it imports would be larger than the tap, whose
        # memory could then not be measured.
        lines = import_module(".into_postgres", __package__).table(*scale)
    else:
        lines = _reading(scale)
    for line in lines:
        print(line, flush=True)


def _reading(scale: Scale) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        clients = Clients(Path(folder))
        rows = (row for measure in _EXPERIMENTS for row in measure(clients, scale))
        yield from markdown(rows, clients.versions())


if __name__ == "__main__":
    main()
