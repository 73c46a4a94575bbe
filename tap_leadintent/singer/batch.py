"""Files of rows, which BATCH messages tell a target to load."""

import os
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any
from uuid import uuid4

import fsspec
from fsspec.utils import get_protocol
from singer_sdk.contrib.msgspec import encoder
from singer_sdk.helpers._batch import BaseBatchFileEncoding, SDKBatchMessage

from tap_leadintent.singer.arrow import write_table
from tap_leadintent.singer.errors import RecordError

Row = dict[str, Any]
Schema = Mapping[str, Any]

_MOST_ROWS = 10_000
"""The rows of a batch, unless the setting says otherwise."""


class BatchError(RecordError):
    """Rows of a batch are lost, so the state must not cover them."""


class Batches:
    """Collects at most one batch of rows, as lines of JSON in a file for each stream.

    The SDK's own batchers are not used, as they keep all rows of a file in memory, and
    infer the types of columns from them. The files that collect rows have no name. A
    message announces a file when it is complete and stored. If storing it fails, no
    message names it.
    """

    def __init__(
        self,
        tap: str,
        config: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        send: Callable[[SDKBatchMessage], object],
    ) -> None:
        """Read the setting.

        Args:
            tap: The tap's name, for those of files.
            config: The setting `batch_config`.
            schemas: The JSON schema of each stream's SCHEMA message.
            send: Sends a message.
        """
        self._schemas, self._send = schemas, send
        encoding, storage = config["encoding"], config.get("storage") or {}
        kind, compression = encoding["format"], encoding.get("compression")
        self._ending = kind
        if kind == "jsonl":
            compression = compression or "gzip"
            self._ending = "json.gz" if compression == "gzip" else "json"
        elif kind == "arrow":
            compression = None
        self._encoding = BaseBatchFileEncoding(kind, compression)
        self._parquet_codec = (compression or "snappy") if kind == "parquet" else None
        # A folder in the temporary one may belong to another account.
        own = str(Path(gettempdir(), f"{tap}-{os.getuid()}"))
        self._root = (storage.get("root") or own).rstrip("/")
        self._options = {
            **(storage.get("params") or {}),
            # In a store of objects, this would ask for the right to make buckets.
            "auto_mkdir": get_protocol(self._root) in {"file", "local"},
            "compression": "gzip" if self._ending == "json.gz" else None,
        }
        self._begin_of_names = f"{self._root}/{storage.get('prefix') or ''}{tap}"
        self._most_rows = config.get("batch_size") or _MOST_ROWS
        self._files: dict[str, IO[bytes]] = {}
        self._rows = 0

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
                self._files[stream] = TemporaryFile()  # noqa: SIM115 - see `close`
            self._files[stream].write(encoder.encode(row) + b"\n")
        return self._rows >= self._most_rows

    def write(self) -> None:
        """Store the files, and announce them.

        Raises:
            BatchError: They cannot be written.
        """
        for stream, lines in self._files.items():
            url = f"{self._begin_of_names}--{stream}-{uuid4()}.{self._ending}"
            with self._explaining():
                target = fsspec.open(url, "wb", **self._options)
                with target.fs.transaction, target as stored:
                    lines.seek(0)
                    if self._encoding.format == "jsonl":
                        shutil.copyfileobj(lines, stored)
                    else:
                        schema = self._schemas[stream]
                        write_table(lines, stored, schema, self._parquet_codec)
            message = SDKBatchMessage(stream, self._encoding, [target.full_name])
            self._send(message)
        self.close()

    def close(self) -> None:
        """Drop the rows of the batch."""
        for file in self._files.values():
            # On a full disk, this fails like the error that ends the stream.
            with suppress(OSError):
                file.close()
        self._files, self._rows = {}, 0

    @contextmanager
    def _explaining(self) -> Generator[None]:
        try:
            yield
        except RecordError as error:
            raise BatchError(error.message) from None
        except Exception as error:  # noqa: BLE001 - of several libraries
            # The message of a library may quote a record, which may be private.
            reason = getattr(error, "strerror", None) or type(error).__name__
            text = f"batches cannot be written to {self._root} ({reason})"
            raise BatchError(f"check access to batch_config.storage: {text}") from None
