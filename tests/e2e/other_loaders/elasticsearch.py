"""Answers the requests that target-elasticsearch sends, and keeps the documents."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.helpers import Json, exact_json

Documents = dict[str, dict[str, Json]]
"""The documents by index and id."""


class _Handler(BaseHTTPRequestHandler):
    documents: Documents

    def _answer(
        self,
        status: int,
        content: Any,
    ) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self._answer(200 if self.path.strip("/") in self.documents else 404, {})

    def do_PUT(self) -> None:
        if self.path.startswith("/_bulk"):
            self._index_documents()
            return
        self._read()
        self.documents.setdefault(self.path.strip("/"), {})
        self._answer(200, {"acknowledged": True})

    def _index_documents(self) -> None:
        lines = [exact_json(each) for each in self._read().split(b"\n") if each]
        items = []
        for action, source in zip(lines[::2], lines[1::2], strict=True):
            about = action["index"]
            index = self.documents[about["_index"]]
            index[about.get("_id", f"made by the server {len(index)}")] = source
            items.append(
                {
                    "index": {
                        "_id": about.get("_id"),
                        "status": 201,
                    }
                }
            )
        self._answer(200, {"errors": False, "items": items})

    def _read(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def running_elasticsearch() -> Iterator[tuple[int, Documents]]:
    """Serve on a free port; give the port and the documents."""
    documents: Documents = {}
    handler = type(
        "Handler",
        (_Handler,),
        {"documents": documents},
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port, documents
        finally:
            server.shutdown()
            thread.join()
