"""Runs the tap where no host's address is ever found: `python -m tests.support.stuck`.

The look-up cannot be interrupted, like that of the system.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Event
from typing import NoReturn
from unittest import mock

from tap_leadintent.__main__ import main


def look_up(*_: object, **__: object) -> NoReturn:
    sys.stderr.write("looks up an address\n")
    while True:
        with suppress(BaseException):
            Event().wait()


with mock.patch("socket.getaddrinfo", look_up):
    main()
