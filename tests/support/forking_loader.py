"""Imports a loader once, and runs it in a fork for each line of standard input.

A program of its own, in the environment of the loader. Each line is JSON: arguments,
and a file for each of the three standard streams. It prints the exit code of each run.
"""

import json
import os
import signal
import sys
from importlib.metadata import entry_points

SECONDS = 120
"""After which a run is taken to hang."""


def main(name: str) -> None:
    """Run the loader again and again, until the input ends."""
    (script,) = entry_points(
        group="console_scripts",
        name=name,
    )
    command = script.load()
    for line in sys.stdin:
        arguments, files = json.loads(line)
        child = os.fork()
        if not child:
            signal.alarm(SECONDS)
            for number, path in enumerate(files):
                mode = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY
                os.dup2(os.open(path, mode, 0o600), number)
            sys.argv = [name, *arguments]
            sys.exit(command())
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
