"""Command line: `python -m tap_leadintent.sandbox`."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from tap_leadintent.sandbox.options import Options

try:
    from tap_leadintent.sandbox.app import App, serve
except ModuleNotFoundError as error:
    sys.exit(
        f"sandbox: {error.name} is not installed; run "
        "pip install 'tap-leadintent[sandbox]'"
    )

_OPTIONS = {
    "api_key": "the one key that it accepts, default: sandbox-key",
    "seed": "another one gives other data, default: 1",
    "clock": "where the clock stands until it is moved; default: it goes on from now",
    "since": "begin of the history, default: 365 days before the clock",
    "history": "how records spread over it: uniform (default), growing, office, head, "
    "bursts or import",
    "latency_seconds": "how long each request waits, default: 0",
    "rate_limit": "requests a second; more get 429; default: no limit",
}


def _size(text: str) -> tuple[str, int]:
    stream, _, number = text.partition("=")
    return stream, int(number)


def _leads(text: str) -> tuple[str, int]:
    return "leads", int(text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve the sandbox until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m tap_leadintent.sandbox",
        description="Serve an offline stand-in for the API, as docs/sandbox.md says. "
        "Prints its address on one line as soon as it listens, and runs until "
        "interrupted.",
    )
    many: dict[str, Any] = {"action": "append", "default": []}
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="default: %(default)s")
    add("--port", type=int, default=0, help="default: a free one")
    add("--leads", type=_leads, dest="size", help="the same as --size leads=N", **many)
    add("--size", type=_size, help="STREAM=N: records of a stream at the start", **many)
    for name, text in _OPTIONS.items():
        switch = name.removesuffix("_seconds").replace("_", "-")
        add(f"--{switch}", dest=name, help=text)
    add("--fault", type=msgspec.json.decode, help="JSON: a fault from now on", **many)
    told = vars(parser.parse_args(arguments))
    given = {name: told[name] for name in _OPTIONS if told[name] is not None}
    try:
        options = Options().changed({"sizes": dict(told["size"]), **given})
        built = App(options, told["fault"])
    except msgspec.ValidationError as error:
        parser.error(str(error))
    serve(built, told["host"], told["port"])


if __name__ == "__main__":
    main()
