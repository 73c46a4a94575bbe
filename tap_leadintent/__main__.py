"""Runs the tap: the command `tap-leadintent`, and `python -m tap_leadintent`."""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    """Run the tap's command line, and end the process with its exit code.

    No thread is waited for: it may hang in a look-up or a request.
    """
    if sys.stdout is None:
        sys.exit("Error: standard output is closed; the tap writes its messages there")
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, _end_at_once)
    code: str | int | None = 1
    try:
        # Imported late: importing takes a while, and a signal may come meanwhile.
        from tap_leadintent.tap import TapLeadIntent  # noqa: PLC0415

        TapLeadIntent.cli()
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # noqa: BLE001 - as Python ends any program
        sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
        code = 1
    with suppress(OSError):  # Nobody may read it any more.
        sys.stdout.flush()
    logging.shutdown()
    os._exit(code or 0)


def _end_at_once(signum: int, _frame: object) -> None:
    # The run has not set its own handlers yet.
    with suppress(OSError):
        os.write(2, f"Error: {signal.Signals(signum).name} before the run\n".encode())
    os._exit(128 + signum)


if __name__ == "__main__":
    main()
