"""Small servers that do exactly what a test wants."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Thread

import trustme

Handle = Callable[[socket.socket], None]

PAGE = b'{"data": [{"id": "a"}], "cursor": {"next": "", "has_more": false}}'
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class _Server(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@contextmanager
def listening(
    handle: Handle,
    certificate: Path | None = None,
) -> Iterator[tuple[str, int]]:
    """Serve each connection with a function, and give the address.

    With a certificate, over TLS; a client that does not trust it is not served.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if certificate:
        context.load_cert_chain(certificate)

    class Handler(BaseRequestHandler):
        request: socket.socket

        def handle(self) -> None:
            connection = self.request
            with suppress(OSError):
                if certificate:
                    connection = context.wrap_socket(connection, server_side=True)
                with connection:
                    handle(connection)

    with _Server(("127.0.0.1", 0), Handler) as server:
        thread = Thread(
            target=server.serve_forever,
            kwargs={"poll_interval": 0.01},
        )
        thread.start()
        try:
            host, port = server.server_address[:2]
            yield str(host), port
        finally:
            server.shutdown()
            thread.join()


def read_request(connection: socket.socket) -> bytes:
    """Read a request with its body; empty when the client has gone."""
    request = b""
    while b"\r\n\r\n" not in request:
        if not (chunk := connection.recv(65536)):
            return b""
        request += chunk
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = 0
    for line in lines:
        name, _, value = line.partition(b":")
        if name == b"content-length":
            length = int(value)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def response(
    body: bytes = PAGE,
    *headers: str,
    status: str = "200 OK",
) -> bytes:
    """Write a whole response."""
    head = [
        f"HTTP/1.1 {status}",
        f"Content-Length: {len(body)}",
        *headers,
        "",
        "",
    ]
    return "\r\n".join(head).encode("latin-1") + body


def serving(*parts: bytes) -> Handle:
    """Answer each request of a connection with these parts, one after the other."""

    def handle(connection: socket.socket) -> None:
        while read_request(connection):
            for part in parts:
                connection.sendall(part)

    return handle


def saying_nothing(asked: Event) -> Handle:
    """Note that a request has come, and never answer it."""

    def handle(connection: socket.socket) -> None:
        while connection.recv(65536):
            asked.set()

    return handle


def make_certificate(folder: Path) -> Path:
    """Make a certificate for this machine, its key and its authority, in one file."""
    authority = trustme.CA()
    path = folder / "certificate.pem"
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(path)
    authority.cert_pem.write_to_path(path, append=True)
    return path
