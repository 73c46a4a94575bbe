"""The benchmark: `uv run --extra sandbox python -m tests.benchmarks`.

Prints a table in Markdown. With `--quick`, less is measured, and less exactly.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from .clients import Clients
from .experiments import (
    Scale,
    measure_latency,
    measure_memory,
    measure_peers,
    measure_start,
    measure_throttling,
    measure_work,
)
from .table import markdown

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
    quick = parser.parse_args().quick
    scale = Scale(leads=2_000, rounds=1) if quick else Scale(leads=20_000, rounds=5)
    with tempfile.TemporaryDirectory() as folder:
        clients = Clients(Path(folder))
        rows = (row for measure in _EXPERIMENTS for row in measure(clients, scale))
        for line in markdown(rows, clients.versions()):
            print(line, flush=True)


if __name__ == "__main__":
    main()
