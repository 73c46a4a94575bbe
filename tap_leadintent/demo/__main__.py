"""The demo's command line: `tap-leadintent-demo`."""

import argparse
import subprocess
import sys
from pathlib import Path

from tap_leadintent.demo.processes import DemoError, stop_on_signals


def main() -> None:
    """Run the command line, and exit."""
    parser = argparse.ArgumentParser(
        prog="tap-leadintent-demo",
        description="Load an offline stand-in for the API into a real PostgreSQL with "
        "Meltano, twice, and show what changed. Leaves a Meltano project to go on "
        "with. Needs no key.",
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("leadintent-demo"),
        help="of the project, which is made (default: %(default)s)",
    )
    parser.add_argument(
        "--postgres",
        action="store_true",
        help="start the PostgreSQL of a project that the demo has made, until Ctrl-C",
    )
    told = parser.parse_args()
    try:
        from tap_leadintent.demo.run import demonstrate, serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        msg = f"demo: {error.name} is not installed; run"
        sys.exit(f"{msg}\n  pip install 'tap-leadintent[demo]'")
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    stop_on_signals()
    folder = told.folder.resolve()
    try:
        (serve if told.postgres else demonstrate)(folder)
    except SystemExit:
        print("\nStopped. Nothing that the demo started is left running.")
        raise
    except (DemoError, OSError, RuntimeError, subprocess.SubprocessError) as error:
        sys.exit(f"\nThe demo failed: {error}")


if __name__ == "__main__":
    main()
