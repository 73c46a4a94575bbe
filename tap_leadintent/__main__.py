"""Runs the tap: the command `tap-leadintent`, and `python -m tap_leadintent`."""

import logging
import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any, NoReturn


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
    code: Any = 1
    try:
        # Imported late: importing takes a while, and a signal may come meanwhile.
        from tap_leadintent.tap import TapLeadIntent  # noqa: PLC0415

        TapLeadIntent.cli()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - as Python ends any program
        traceback.print_exc()
    with suppress(OSError):  # Nobody may read it any more.
        sys.stdout.flush()
    logging.shutdown()
    os._exit(code or 0)


if __name__ == "__main__":
    main()
