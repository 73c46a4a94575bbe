"""The benchmark: `uv run --all-extras python -m tools.benchmarks`.

Prints lines of a table in Markdown. With `--quick`, less is measured, and less exactly.
With `--into postgres` it measures loading instead of reading. With `--faults` it says
instead which leads each client reads of an API with faults. `--chart docs/speed.svg`
needs the group `charts`, and draws what the first table of `docs/speed.md` contains.
"""

import argparse
import tempfile
from importlib import import_module
from pathlib import Path
from statistics import median

from .measure import Row, Scale


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks")
    parser.add_argument("--quick", action="store_true", help="2,000 leads, one round")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--into", choices=["postgres"], help="load the leads there")
    either.add_argument("--faults", action="store_true", help="read through faults")
    either.add_argument("--chart", type=Path, help="draw the first measure there")
    arguments = parser.parse_args()
    leads = 50_000 if arguments.into else 20_000
    scale = Scale(2_000, rounds=1) if arguments.quick else Scale(leads, rounds=5)
    # Not both: what loading imports would be larger than the tap, whose memory could
    # then not be measured.
    module = ".loading" if arguments.into else ".reading"
    if arguments.faults:
        with tempfile.TemporaryDirectory() as folder:
            for line in import_module(".noticing", __package__).lines(Path(folder)):
                print(line, flush=True)
        return
    rows: list[Row] = []
    print("| | Client | Median | Spread | Notes |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for row in import_module(module, __package__).rows(Path(folder), scale):
            print(row, flush=True)
            rows.append(row)
    if arguments.chart:
        first = [row for row in rows if row.measure == rows[0].measure]
        seconds = {row.client: median(row.values) for row in first}
        # Imported after the measurement, as it would be larger than the tap, too.
        drawings = import_module("tools.drawings")
        arguments.chart.write_text(drawings.speed(seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
