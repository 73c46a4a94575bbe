"""Runs the tap: the command `tap-leadintent`, and `python -m tap_leadintent`."""

from __future__ import annotations

import sys

from tap_leadintent import watchdog


def main() -> None:
    """Run the tap's command line."""
    if sys.stdout is None:
        sys.exit("Error: standard output is closed; the tap writes its messages there")
    watchdog.watch()
    # Imported after `watch`: importing takes a while, and a signal may come meanwhile.
    from tap_leadintent.tap import TapLeadIntent  # noqa: PLC0415

    TapLeadIntent.cli()


if __name__ == "__main__":
    main()
