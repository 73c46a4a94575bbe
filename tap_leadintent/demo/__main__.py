"""The command line of the demo: `tap-leadintent-demo`."""

import argparse
import subprocess
import sys
from pathlib import Path

from tap_leadintent.demo.processes import DemoError, stop_on_signals


def main() -> None:
    """Read the command line and run the demo."""
    parser = argparse.ArgumentParser(
        prog="tap-leadintent-demo",
        description="Load an offline stand-in for the API into a real PostgreSQL with "
        "Meltano, twice, and show what has changed. Leaves a Meltano project with "
        "which you can continue. Needs no key.",
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("leadintent-demo"),
        help="new folder for the project (default: %(default)s)",
    )
    parser.add_argument(
        "--postgres",
        action="store_true",
        help="run the PostgreSQL of an earlier demo's project until Ctrl-C",
    )
    arguments = parser.parse_args()
    try:
        from tap_leadintent.demo.run import demonstrate, serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        msg = f"demo: {error.name} is not installed; run"
        sys.exit(f"{msg}\n  pip install 'tap-leadintent[demo]'")
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    stop_on_signals()
    folder = arguments.folder.resolve()
    try:
        (serve if arguments.postgres else demonstrate)(folder)
    except SystemExit:
        print("\nStopped. Nothing that the demo started is left running.")
        raise
    except (DemoError, OSError, RuntimeError, subprocess.SubprocessError) as error:
        sys.exit(f"\nThe demo failed: {error}")


if __name__ == "__main__":
    main()
