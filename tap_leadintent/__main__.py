"""Runs the tap: the command `tap-leadintent`, and `python -m tap_leadintent`."""

import errno
import logging
import os
import signal
import sys
from traceback import format_tb
from typing import Any, NoReturn

_OUTPUT_ERRORS = {errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPIPE}
"""The errors of writing to standard output. The errors of requests and files, which may
have the same numbers, do not reach the main function."""


def main() -> NoReturn:
    """Run the tap's command line, and end the process with its exit code.

    The process does not wait for its threads: they may hang in a DNS look-up or in a
    request.
    """
    # A run installs handlers of its own later. Without any, the first process of a
    # container ignores these signals.
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda number, _: os._exit(128 + number))
    code: Any = 1
    try:
        try:
            # Imported late, as it takes a while, and a signal may come meanwhile.
            from tap_leadintent.tap import TapLeadIntent  # noqa: PLC0415

            TapLeadIntent.cli()
        finally:
            # What was printed, such as a catalog, may still be in the buffer.
            sys.stdout.flush()
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # noqa: BLE001 - every program ends with its errors
        logger = logging.getLogger("tap-leadintent")
        if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS:
            logger.error("standard output cannot be written: %s", error.strerror)  # noqa: TRY400
        else:
            # The text of the error is left out: it may quote a record or the key.
            name = type(error).__name__
            places = "".join(format_tb(error.__traceback__))
            text = "%s, which is a bug of the tap; report it with these lines:\n%s"
            logger.error(text, name, places)  # noqa: TRY400
    logging.shutdown()
    os._exit(code or 0)


if __name__ == "__main__":
    main()
