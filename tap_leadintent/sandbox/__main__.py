"""Command line: `python -m tap_leadintent.sandbox`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import msgspec

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.options import Options

try:
    from tap_leadintent.sandbox.server import serve
except ModuleNotFoundError as error:
    sys.exit(
        f"sandbox: {error.name} is not installed; run "
        "pip install 'tap-leadintent[sandbox]'"
    )

if TYPE_CHECKING:
    from collections.abc import Sequence


def _size(text: str) -> tuple[str, int]:
    stream, _, number = text.partition("=")
    return stream, int(number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tap_leadintent.sandbox",
        description="Serve an offline stand-in for the API. Prints its address on "
        "one line as soon as it listens, and runs until interrupted.",
    )
    default = Options()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--api-key", help=f"default: {default.api_key}")
    parser.add_argument("--leads", type=int, metavar="N", help="same as leads=N")
    parser.add_argument(
        "--size",
        type=_size,
        metavar="STREAM=N",
        action="append",
        default=[],
        help=f"records at the start, of one of: {', '.join(ENDPOINTS)}",
    )
    parser.add_argument("--seed", type=int, help=f"default: {default.seed}")
    parser.add_argument("--clock", metavar="ISO", help=f"default: {default.clock}")
    parser.add_argument(
        "--since", metavar="ISO", help="begin of the history, default: 365 days earlier"
    )
    parser.add_argument("--history", help="uniform (default), bursty, gaps or instant")
    parser.add_argument(
        "--latency", type=float, metavar="SECONDS", help="of each request, default: 0"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve until interrupted."""
    parser = _parser()
    told = parser.parse_args(arguments)
    sizes = dict(told.size)
    if told.leads is not None:
        sizes["leads"] = told.leads
    changes = {
        "api_key": told.api_key,
        "seed": told.seed,
        "clock": told.clock,
        "since": told.since,
        "history": told.history,
        "latency_seconds": told.latency,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    try:
        options = Options().changed({"sizes": sizes, **given})
    except msgspec.ValidationError as error:
        parser.error(str(error))
    serve(options, told.host, told.port)


if __name__ == "__main__":
    main()
