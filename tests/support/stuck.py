"""Runs the tap where no host's address is ever found: `python -m tests.support.stuck`.

The look-up cannot be interrupted, like that of the system. The variable `LOOKS`
replaces how long a run has to end after a signal.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from threading import Event
from typing import NoReturn
from unittest import mock

from tap_leadintent import interruption
from tap_leadintent.__main__ import main


def look_up(*_: object, **__: object) -> NoReturn:
    sys.stderr.write("looks up an address\n")
    while True:
        with suppress(BaseException):
            Event().wait()


interruption.LOOKS = int(os.environ.get("LOOKS", interruption.LOOKS))
with mock.patch("socket.getaddrinfo", look_up):
    main()
