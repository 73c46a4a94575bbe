"""Command line: `python -m tap_leadintent.sandbox`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, get_args, get_type_hints

import msgspec

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.options import Options

try:
    from tap_leadintent.sandbox.faults.kinds import FaultKind
    from tap_leadintent.sandbox.server import serve
except ModuleNotFoundError as error:
    sys.exit(
        f"sandbox: {error.name} is not installed; run "
        "pip install 'tap-leadintent[sandbox]'"
    )

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tap_leadintent.sandbox.faults.rules import Fault

_NAMED_AS_OPTIONS = (
    *("api_key", "seed", "clock", "since", "history"),
    *("range_end", "cursor_mode", "order", "signals"),
)


def _size(text: str) -> tuple[str, int]:
    stream, _, number = text.partition("=")
    return stream, int(number)


def _fault(text: str) -> Fault:
    try:
        fault: Fault = msgspec.json.decode(text, type=FaultKind)
    except msgspec.DecodeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return fault


def _choices(option: str) -> tuple[str, ...]:
    return get_args(get_type_hints(Options)[option])


def _kinds_of_faults() -> str:
    kinds = {kind.__struct_config__.tag: kind for kind in get_args(FaultKind)}
    lines = (
        f"  {name:15}{(kind.__doc__ or '').splitlines()[0]}"
        for name, kind in kinds.items()
    )
    return "kinds of faults:\n" + "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Give the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tap_leadintent.sandbox",
        description="Serve an offline stand-in for the API. Prints its address on "
        "one line as soon as it listens, and runs until interrupted. While it runs, it "
        "is steered through routes under /_sandbox/, see docs/sandbox.md.",
        epilog=_kinds_of_faults(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = Options()
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--api-key", help=f"default: {default.api_key}")
    data = parser.add_argument_group("data")
    data.add_argument("--leads", type=int, metavar="N", help="same as --size leads=N")
    data.add_argument(
        "--size",
        type=_size,
        metavar="STREAM=N",
        action="append",
        default=[],
        help=f"records at the start, of one of: {', '.join(ENDPOINTS)}",
    )
    data.add_argument("--seed", type=int, help=f"default: {default.seed}")
    data.add_argument(
        "--clock",
        metavar="ISO",
        help=f"where the clock stands; it moves when told to, default: {default.clock}",
    )
    data.add_argument(
        "--since", metavar="ISO", help="begin of the history, default: 365 days earlier"
    )
    data.add_argument(
        "--history",
        choices=_choices("history"),
        help=f"how records spread over it, default: {default.history}",
    )
    behaviour = parser.add_argument_group(
        "behaviour", "which the API's description does not show, and faults"
    )
    behaviour.add_argument(
        "--latency", type=float, metavar="SECONDS", help="of each request, default: 0"
    )
    behaviour.add_argument(
        "--rate-limit",
        type=float,
        metavar="N",
        help="requests a second, more get 429 and Retry-After: 1; default: no limit",
    )
    for option, help_text in (
        ("range_end", "whether a time range's end belongs to it"),
        ("cursor_mode", "whether cursors go on after a record or at an offset"),
        ("order", "sort of a request that names none"),
        ("signals", "whether latest_signal shows a record at its latest, or at each"),
    ):
        told = f"{help_text}, default: {getattr(default, option)}"
        flag = f"--{option.replace('_', '-')}"
        behaviour.add_argument(flag, choices=_choices(option), help=told)
    behaviour.add_argument(
        "--fault",
        type=_fault,
        metavar="JSON",
        action="append",
        default=[],
        help='a fault from the start on, such as {"kind": "status", "status": 503, '
        '"times": 2}',
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve until interrupted."""
    line = parser()
    told = line.parse_args(arguments)
    sizes = dict(told.size)
    if told.leads is not None:
        sizes["leads"] = told.leads
    changes = {
        **{name: getattr(told, name) for name in _NAMED_AS_OPTIONS},
        "latency_seconds": told.latency,
    }
    if told.rate_limit is not None:
        changes["rate_limit"] = {"requests_per_second": told.rate_limit}
    given = {name: value for name, value in changes.items() if value is not None}
    try:
        options = Options().changed({"sizes": sizes, **given})
    except msgspec.ValidationError as error:
        line.error(str(error))
    serve(options, told.host, told.port, told.fault)


if __name__ == "__main__":
    main()
