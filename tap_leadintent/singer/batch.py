"""Files of rows, which BATCH messages tell a target to load."""

import gzip
import shutil
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any
from uuid import uuid4

from singer_sdk.contrib.msgspec import encoder
from singer_sdk.helpers._batch import (
    BaseBatchFileEncoding,
    BatchConfig,
    SDKBatchMessage,
)

from tap_leadintent.singer.arrow import ArrowWriter, convert_to_parquet
from tap_leadintent.singer.errors import RecordError

Row = dict[str, Any]
Schema = Mapping[str, Any]

_MAX_WAITING = 100
"""The rows of a stream that wait in memory until they are written into its file. Each
takes about 8 KB."""

_MAX_SECONDS = 120
"""The age at which a batch should be written even if it could take more rows. What it
holds is read again after an interruption."""


class Batches:
    """Collects at most one batch of rows, in a file for each stream.

    The SDK's own batchers are not used, as they keep all rows of a file in memory, and
    infer the types of columns from them. A message announces a file when it is complete
    and stored. If storing it fails, a part of it may stay, which no message names.
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
        """
        self._tap = tap
        self._monotonic = monotonic
        # The SDK's default from version 0.55 on.
        root = Path(gettempdir(), "singer-sdk").as_uri()
        storage = {"root": root, **(config.get("storage") or {})}
        self._config = BatchConfig.from_dict({**config, "storage": storage})
        encoding = self._encoding = self._config.encoding
        # As with the SDK, the setting applies to Parquet only.
        fixed = {"jsonl": "gzip", "arrow": None}
        encoding.compression = fixed.get(encoding.format, encoding.compression)
        self._schemas = schemas
        self._send = send
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
            RecordError: Rows cannot be written.
        """
        self._rows += 1
        if stream not in self._files:
            self._began = self._began or self._monotonic()
            self._files[stream] = _File(self._encoding, self._schemas[stream])
        file = self._files[stream]
        file.waiting.append(row)
        if len(file.waiting) == _MAX_WAITING:
            file.flush()
        return self._rows >= self._config.batch_size

    @property
    def is_old(self) -> bool:
        """Whether the batch should not wait for more rows."""
        return bool(self._files) and self._monotonic() - self._began > _MAX_SECONDS

    def write(self) -> None:
        """Store the files, and announce them.

        Raises:
            RecordError: They cannot be written.
        """
        storage, kind = self._config.storage, self._encoding.format
        ending = "json.gz" if kind == "jsonl" else kind
        for stream, file in self._files.items():
            name = f"{storage.prefix or ''}{self._tap}--{stream}-{uuid4()}.{ending}"
            with _explaining(), storage.open(name, "wb") as stored:
                file.copy_to(stored)
            url = storage.get_url(name)
            self._send(SDKBatchMessage(stream, self._encoding, [url]))
        self.close()

    def close(self) -> None:
        """Drop the rows of the batch."""
        for file in self._files.values():
            file.close()
        self._files, self._rows, self._began = {}, 0, 0.0


@contextmanager
def _explaining() -> Generator[None]:
    try:
        yield
    except RecordError:
        raise
    except Exception as error:  # noqa: BLE001 - of several libraries
        # The message of a library may quote a record, which may be private.
        reason = getattr(error, "strerror", None) or type(error).__name__
        message = f"batches cannot be written ({reason}); see batch_config"
        raise RecordError(message) from None


class _LineWriter(gzip.GzipFile):
    """Writes rows into a file of JSON Lines."""

    def append(self, rows: list[Row]) -> None:
        self.writelines(encoder.encode(row) + b"\n" for row in rows)


class _File:
    """A file without a name, to which rows are appended."""

    @_explaining()
    def __init__(self, encoding: BaseBatchFileEncoding, schema: Schema) -> None:
        self.waiting: list[Row] = []
        self._encoding = encoding
        self._content = TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._writer = (
            _LineWriter(fileobj=self._content, mode="wb")
            if encoding.format == "jsonl"
            else ArrowWriter(self._content, schema)
        )

    @_explaining()
    def flush(self) -> None:
        rows, self.waiting = self.waiting, []
        self._writer.append(rows)

    def copy_to(self, stored: IO[bytes]) -> None:
        self.flush()
        self._writer.close()
        self._content.seek(0)
        if self._encoding.format == "parquet":
            codec = self._encoding.compression or "snappy"
            convert_to_parquet(self._content, stored, codec)
        else:
            shutil.copyfileobj(self._content, stored)

    def close(self) -> None:
        # On a full disk, this fails like the error that ends the stream.
        with suppress(OSError):
            self._writer.close()
            self._content.close()
