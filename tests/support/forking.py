"""Runs programs as forks of a process that has imported what they need.

A program of its own, in any environment: `forking.py SOCKET PREPARATION`, the number of
a socket and the code that imports. A request is a line of JSON with `code`,
`arguments`, `environment` and `folder`, and with it four open files: standard input,
output and error, and where to write the process id and, at the end, the exit code.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(number: str, preparation: str) -> str | None:
    """Serve requests until the other end closes the socket.

    Returns:
        None. In a fork, the code that it is to run.
    """
    exec(preparation, {})  # noqa: S102 - our own code
    gc.freeze()
    with socket.socket(fileno=int(number)) as requests:
        while True:
            request, files = _receive(requests)
            if not request:
                return None
            if os.fork() == 0:
                break
            for file in files:
                os.close(file)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    return _become(json.loads(request), files)


def _receive(requests: socket.socket) -> tuple[bytes, list[int]]:
    request, files = b"", list[int]()
    while not request.endswith(b"\n"):
        part, more, _, _ = socket.recv_fds(requests, 1 << 16, 4)
        if not part:
            return b"", []
        request += part
        files += more
    return request, files


def _become(request: dict[str, Any], files: Sequence[int]) -> str:
    """Fork again: the child becomes the program, and this process waits for its end."""
    *streams, told = files
    if pid := os.fork():
        for file in (0, 1, 2, *streams):
            os.close(file)
        os.write(told, b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        os.write(told, b"%d\n" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    for standard, file in enumerate(streams):
        os.dup2(file, standard)
    for file in files:
        os.close(file)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = request["arguments"]
    return str(request["code"])


if __name__ == "__main__" and (code := main(*sys.argv[1:])) is not None:
    exec(code, {"__name__": "__main__"})  # noqa: S102 - our own code
