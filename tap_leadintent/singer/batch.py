"""Files of rows, which BATCH messages tell a target to load."""

import gzip
import os
import shutil
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any
from uuid import uuid4

import fsspec
from singer_sdk.contrib.msgspec import encoder
from singer_sdk.helpers._batch import BaseBatchFileEncoding, SDKBatchMessage

from tap_leadintent.singer.arrow import ArrowWriter, convert_to_parquet
from tap_leadintent.singer.errors import RecordError

Row = dict[str, Any]
Schema = Mapping[str, Any]

_MOST_ROWS = 10_000
"""The rows of a batch, unless the setting says otherwise."""

_MAX_WAITING = 100
"""The rows of a stream that wait in memory until they are written into its file. Each
takes about 8 KB."""

_MAX_SECONDS = 120
"""The age at which a batch should be written even if it could take more rows. What it
holds is read again after an interruption."""

_LOCAL = "file"
"""The protocol of paths of this machine."""


class BatchError(RecordError):
    """Rows of a batch are lost, so the state must not cover them."""


class Batches:
    """Collects at most one batch of rows, in a file for each stream.

    The SDK's own batchers are not used, as they keep all rows of a file in memory, and
    infer the types of columns from them. A message announces a file when it is complete
    and stored. If storing it fails, no message names it.
    """

    def __init__(
        self,
        tap: str,
        config: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        send: Callable[[SDKBatchMessage], object],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read the setting.

        Args:
            tap: The tap's name, for those of files.
            config: The setting `batch_config`.
            schemas: The JSON schema of each stream's SCHEMA message.
            send: Sends a message.
            monotonic: Returns the seconds of a clock that nobody sets.

        Raises:
            BatchError: The folder cannot be used.
        """
        self._monotonic, self._schemas, self._send = monotonic, schemas, send
        encoding, storage = config["encoding"], config.get("storage") or {}
        kind, compression = encoding["format"], encoding.get("compression")
        self._ending = kind
        if kind == "jsonl":
            compression = compression or "gzip"
            self._ending = "json.gz" if compression == "gzip" else "json"
        elif kind == "arrow":
            compression = None
        self._encoding = BaseBatchFileEncoding(kind, compression)
        # A folder in the temporary one may belong to another account.
        own = Path(gettempdir(), f"{tap}-{os.getuid()}")
        self._root = storage.get("root") or str(own)
        params = storage.get("params") or {}
        with self._explaining():
            self._system, folder = fsspec.url_to_fs(self._root, **params)
        self._begin_of_names = f"{folder}/{storage.get('prefix') or ''}{tap}"
        self._most_rows = config.get("batch_size") or _MOST_ROWS
        self._files: dict[str, _File] = {}
        self._rows = 0
        self._began = 0.0

    def add(self, stream: str, row: Row) -> bool:
        """Add a row to the batch of its stream.

        Args:
            stream: The stream that it goes to.
            row: What a RECORD would hold.

        Returns:
            Whether there are as many rows now as a batch may have.

        Raises:
            BatchError: Rows cannot be written.
        """
        self._rows += 1
        with self._explaining():
            if stream not in self._files:
                self._began = self._began or self._monotonic()
                self._files[stream] = _File(self._encoding, self._schemas[stream])
            self._files[stream].append(row)
        return self._rows >= self._most_rows

    @property
    def is_old(self) -> bool:
        """Whether the batch should wait no longer, as it is two minutes old."""
        return bool(self._files) and self._monotonic() - self._began > _MAX_SECONDS

    def write(self) -> None:
        """Store the files, and announce them.

        Raises:
            BatchError: They cannot be written.
        """
        for stream, file in self._files.items():
            path = f"{self._begin_of_names}--{stream}-{uuid4()}.{self._ending}"
            with self._explaining():
                if _LOCAL in self._system.protocol:
                    Path(path).parent.mkdir(parents=True, exist_ok=True)
                with self._system.transaction, self._system.open(path, "wb") as stored:
                    file.copy_to(stored)
            url = self._system.unstrip_protocol(path)
            self._send(SDKBatchMessage(stream, self._encoding, [url]))
        self.close()

    def close(self) -> None:
        """Drop the rows of the batch."""
        for file in self._files.values():
            file.close()
        self._files, self._rows, self._began = {}, 0, 0.0

    @contextmanager
    def _explaining(self) -> Generator[None]:
        try:
            yield
        except RecordError as error:
            raise BatchError(error.message) from None
        except Exception as error:  # noqa: BLE001 - of several libraries
            # The message of a library may quote a record, which may be private.
            reason = getattr(error, "strerror", None) or type(error).__name__
            problem = f"batches cannot be written to {self._root} ({reason})"
            raise BatchError(f"{problem}; see batch_config") from None


class _File:
    """A file without a name, to which rows are appended."""

    def __init__(self, encoding: BaseBatchFileEncoding, schema: Schema) -> None:
        self._waiting: list[Row] = []
        self._encoding = encoding
        self._content = TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._lines: IO[bytes] | gzip.GzipFile = self._content
        self._table = None
        if encoding.format != "jsonl":
            self._table = ArrowWriter(self._content, schema)
        elif encoding.compression == "gzip":
            self._lines = gzip.GzipFile(fileobj=self._content, mode="wb")

    def append(self, row: Row) -> None:
        self._waiting.append(row)
        if len(self._waiting) == _MAX_WAITING:
            self._flush()

    def _flush(self) -> None:
        rows, self._waiting = self._waiting, []
        if self._table:
            self._table.append(rows)
        else:
            self._lines.writelines(encoder.encode(row) + b"\n" for row in rows)

    def copy_to(self, stored: IO[bytes]) -> None:
        self._flush()
        self._end()
        self._content.seek(0)
        if self._encoding.format == "parquet":
            codec = self._encoding.compression or "snappy"
            convert_to_parquet(self._content, stored, codec)
        else:
            shutil.copyfileobj(self._content, stored)

    def _end(self) -> None:
        if self._table:
            self._table.close()
        elif self._lines is not self._content:
            self._lines.close()

    def close(self) -> None:
        # On a full disk, this fails like the error that ends the stream.
        with suppress(OSError):
            self._end()
            self._content.close()
