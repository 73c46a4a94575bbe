"""Runs the tap, whose imports never end: `python -m tests.support.importing`."""

from __future__ import annotations

import runpy
import sys
from importlib.abc import MetaPathFinder
from threading import Event
from typing import Any


class Waiting(MetaPathFinder):
    """Finds the SDK nowhere, and does not give up."""

    def find_spec(self, fullname: str, *_: Any) -> None:
        """Wait, where the SDK is looked for."""
        if fullname == "singer_sdk":
            sys.stdout.write("imports\n")
            sys.stdout.flush()
            Event().wait()


sys.meta_path.insert(0, Waiting())
runpy.run_module("tap_leadintent", run_name="__main__")
