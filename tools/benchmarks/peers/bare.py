"""The reference: what it costs at the very least to read the leads as JSON lines."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import urllib3


class _Config(msgspec.Struct):
    base_url: str
    api_key: str
    slices: list[str]


class _Cursor(msgspec.Struct):
    next: str
    has_more: bool


class _Page(msgspec.Struct):
    data: list[dict[str, Any]]
    cursor: _Cursor


class _Reader:
    def __init__(self, config: _Config) -> None:
        threads = len(config.slices)
        self._pool = urllib3.connection_from_url(config.base_url, maxsize=threads)
        self._headers = {
            "Authorization": f"Bearer {config.api_key}",
            "Content-Type": "application/json",
        }

    def read(self, text: str) -> None:
        """Print the leads of a slice."""
        decoder = msgspec.json.Decoder(_Page)
        encoder = msgspec.json.Encoder()
        cursor: dict[str, Any] = {"limit": 100}
        start, end = text.split("/")
        found = {"start_time": start, "end_time": end}
        fields = {"cursor": cursor, "date_found": found}
        more = True
        while more:
            page = decoder.decode(self._fetch(encoder.encode(fields)))
            cursor["after"] = page.cursor.next
            more = page.cursor.has_more
            sys.stdout.buffer.write(encoder.encode_lines(page.data))

    def _fetch(self, body: bytes) -> bytes:
        response = self._pool.urlopen(
            "POST", "/v1/signals/leads", body=body, headers=self._headers
        )
        return response.data


def main(path: str) -> None:
    """Print all leads."""
    config = msgspec.json.decode(Path(path).read_bytes(), type=_Config)
    reader = _Reader(config)
    with ThreadPoolExecutor(len(config.slices)) as threads:
        for _ in threads.map(reader.read, config.slices):
            pass


if __name__ == "__main__":
    main(sys.argv[1])
