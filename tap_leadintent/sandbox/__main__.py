"""The command line of the sandbox: `python -m tap_leadintent.sandbox`."""

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
    "api_key": "the only key that is accepted, default: sandbox-key",
    "seed": "seed of the generated data, default: 1",
    "clock": "time at which the clock stands, default: the current time, which goes on",
    "since": "beginning of the history, default: 365 days before the clock",
    "history": "how records are spread over it: uniform (default), growing, office, "
    "head, bursts or import",
    "latency_seconds": "seconds that each request waits, default: 0",
    "rate_limit": "requests per second; more get status 429; default: no limit",
}


def _size(text: str) -> tuple[str, int]:
    stream, _, number = text.partition("=")
    return stream, int(number)


def _leads(text: str) -> tuple[str, int]:
    return "leads", int(text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve the sandbox until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m tap_leadintent.sandbox",
        description="Serve an offline stand-in for the API; see docs/sandbox.md. "
        "Prints its address on one line as soon as it accepts connections, and runs "
        "until it is interrupted.",
    )
    many: dict[str, Any] = {"action": "append", "default": []}
    add = parser.add_argument
    add(
        "--host",
        default="127.0.0.1",
        help="default: %(default)s",
    )
    add(
        "--port",
        type=int,
        default=0,
        help="default: a free port",
    )
    add(
        "--leads",
        type=_leads,
        dest="size",
        help="short for --size leads=N",
        **many,
    )
    add(
        "--size",
        type=_size,
        help="STREAM=N: its records at the start",
        **many,
    )
    for name, text in _OPTIONS.items():
        switch = name.removesuffix("_seconds").replace("_", "-")
        add(
            f"--{switch}",
            dest=name,
            help=text,
        )
    add(
        "--fault",
        type=msgspec.json.decode,
        help="a fault, as JSON",
        **many,
    )
    values = vars(parser.parse_args(arguments))
    changes: dict[str, Any] = {"sizes": dict(values["size"])}
    for name in _OPTIONS:
        if values[name] is not None:
            changes[name] = values[name]
    try:
        options = Options().changed(changes)
        app = App(options, values["fault"])
    except msgspec.ValidationError as error:
        parser.error(str(error))
    serve(app, values["host"], values["port"])


if __name__ == "__main__":
    main()
