"""Runs the tap: the command `tap-leadintent`, and `python -m tap_leadintent`."""

import errno
import logging
import os
import signal
import sys
import traceback
from typing import Any, NoReturn

_OUTPUT_ERRORS = {errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPIPE}
"""What writing to standard output fails with. Nothing else raises these here: a sync
names what cannot be written itself."""


def main() -> NoReturn:
    """Run the tap's command line, and end the process with its exit code.

    No thread is waited for: it may hang in a look-up or a request.
    """
    # Until the run sets its own. A container's first process has none by default.
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda number, _: os._exit(128 + number))
    # The SDK would end with a traceback.
    given = [n for n in ("TAP_LEADINTENT_LOGLEVEL", "LOGLEVEL") if os.environ.get(n)]
    if given and os.environ[given[0]].upper() not in logging.getLevelNamesMapping():
        sys.exit(f"{given[0]}: there is no such level; set INFO, or DEBUG for more")
    if sys.stdout is None:
        sys.exit("standard output is closed; the tap writes its messages there")
    code: Any = 1
    try:
        try:
            # Imported late: importing takes a while, and a signal may come meanwhile.
            from tap_leadintent.tap import TapLeadIntent  # noqa: PLC0415

            TapLeadIntent.cli()
        finally:
            # What was printed, such as a catalog, may still be in the buffer.
            sys.stdout.flush()
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # noqa: BLE001 - as Python ends any program
        if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS:
            message = f"standard output cannot be written: {error.strerror}"
            logging.getLogger("tap-leadintent").error(message)  # noqa: TRY400
        else:
            traceback.print_exc()
    logging.shutdown()
    os._exit(code or 0)


if __name__ == "__main__":
    main()
