"""Runs the tap: the command `tap-leadintent`, and `python -m tap_leadintent`."""

from __future__ import annotations

import sys

from tap_leadintent import watchdog


def main() -> None:
    """Run the tap, and end the process as its command line says."""
    if sys.stdout is None:
        sys.exit("Error: standard output is closed; the tap writes its messages there")
    watchdog.watch()
    # Imported late: it takes a while, in which a signal may come.
    from tap_leadintent.tap import TapLeadIntent  # noqa: PLC0415

    TapLeadIntent.cli()


if __name__ == "__main__":
    main()
