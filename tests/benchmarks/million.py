"""Reads a million leads: `uv run --extra sandbox python -m tests.benchmarks.million`.

It says what `docs/scaling.md` expects of the same load, and what it took.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil  # type: ignore[import-untyped]

from tap_leadintent.sandbox import running_sandbox
from tap_leadintent.sandbox.options import Options, three_weeks_ago
from tap_leadintent.sandbox.times import format_time
from tests.support.helpers import only

LEADS, LATENCY, CONCURRENCY = 1_000_000, 0.1, 8
_PARTS = 10
CLOCK = three_weeks_ago()


def main() -> None:
    """Run the tap once and print a line for each tenth of the leads."""
    with TemporaryDirectory() as name, running_sandbox("--clock", CLOCK) as sandbox:
        folder = Path(name)
        sandbox.configure(sizes={"leads": LEADS}, latency_seconds=LATENCY)
        config = {
            "base_url": sandbox.url,
            "api_key": Options().api_key,
            "start_date": format_time(Options(clock=CLOCK).begin),
            "concurrency": CONCURRENCY,
        }
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (folder / "catalog.json").write_text(json.dumps(only("leads")), "utf-8")
        files = ("--config", "config.json", "--catalog", "catalog.json")
        began = time.perf_counter()
        with subprocess.Popen(  # our own module
            [sys.executable, "-m", "tap_leadintent", *files],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=(folder / "log").open("wb"),
        ) as process:
            seen = psutil.Process(process.pid)
            count = 0
            assert process.stdout
            for line in process.stdout:
                if line.startswith(b'{"type":"RECORD"'):
                    count += 1
                    if count % (LEADS // _PARTS) == 0:
                        rss = seen.memory_info().rss / 1e6
                        seconds = time.perf_counter() - began
                        cpu = seen.cpu_times()
                        print(
                            f"{count:,} leads: {seconds:.0f} s, {rss:.1f} MB, "
                            f"{cpu.user + cpu.system:.0f} s of processor time",
                            flush=True,
                        )
        requests = sum(each["stream"] == "leads" for each in sandbox.requests())
        print(f"exit code {process.returncode}, {count:,} records")
        print(f"{requests:,} requests; docs/scaling.md: {LEADS // 1000 * 23:,}")
        print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
