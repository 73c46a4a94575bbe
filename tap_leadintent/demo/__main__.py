"""Runs the demo: `tap-leadintent-demo`, and `python -m tap_leadintent.demo`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the demo's command line."""
    try:
        from tap_leadintent.demo.cli import main as run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        sys.exit(
            f"demo: {error.name} is not installed; run\n"
            "  pip install 'tap-leadintent[demo]'"
        )
    sys.exit(run())


if __name__ == "__main__":
    main()
