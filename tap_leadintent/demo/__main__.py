"""Command line: `python -m tap_leadintent.demo`."""

from __future__ import annotations

import sys

try:
    from tap_leadintent.demo.cli import main
except ModuleNotFoundError as error:
    sys.exit(
        f"demo: {error.name} is not installed; run\n"
        "  uv run --extra sandbox --group demo python -m tap_leadintent.demo"
    )

if __name__ == "__main__":
    sys.exit(main())
