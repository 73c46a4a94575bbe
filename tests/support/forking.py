"""Runs a console script again and again: imported once, each run a fork of that.

A program of its own, in the environment of the script: `forking.py SCRIPT`. Each line
of its input is a folder with `arguments.json` and `input.txt`; the run's output goes to
`output.txt` and `errors.txt` there. When a run has ended, its exit code is printed.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


def main(name: str) -> None:
    """Run the script for each line of standard input."""
    (entry,) = entry_points(group="console_scripts", name=name)
    script = entry.load()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _run(name, script, Path(line.rstrip("\n")))
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


def _run(name: str, script: Callable[[], object], folder: Path) -> NoReturn:
    files = (("input.txt", "rb"), ("output.txt", "wb"), ("errors.txt", "wb"))
    for number, (file, mode) in enumerate(files):
        with (folder / file).open(mode) as opened:
            os.dup2(opened.fileno(), number)
    arguments = (folder / "arguments.json").read_text(encoding="utf-8")
    sys.argv = [name, *json.loads(arguments)]
    code: object = 1
    try:
        code = script()
    except SystemExit as error:
        code = error.code
    except BaseException:  # noqa: BLE001 - as an interpreter does
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    main(sys.argv[1])
