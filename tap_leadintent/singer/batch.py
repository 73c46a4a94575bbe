"""Files of rows, which BATCH messages tell a target to load."""

import io
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from singer_sdk.batch import Batcher
from singer_sdk.helpers._batch import BatchConfig, BatchFileFormat, SDKBatchMessage

from tap_leadintent.errors import StreamError

Row = dict[str, Any]


class Batches:
    """Collects at most one batch of rows, by the stream that they go to.

    The SDK writes the files. A message announces a file only when it is complete. When
    a file cannot be completed, a part of it may stay, which no message names.
    """

    def __init__(
        self,
        tap: str,
        config: Mapping[str, Any],
        send: Callable[[SDKBatchMessage], object],
    ) -> None:
        """Begin with no rows.

        Args:
            tap: The tap's name, for those of files.
            config: The setting `batch_config`.
            send: Sends a message.
        """
        self._tap = tap
        self._config = BatchConfig.from_dict(dict(config))
        if self._config.encoding.format == BatchFileFormat.JSONL:
            # The SDK compresses them, whatever the setting says.
            self._config.encoding.compression = "gzip"
        self._send = send
        self._rows: dict[str, list[Row]] = {}

    def add(self, stream: str, row: Row) -> bool:
        """Add a row to the batch of its stream.

        Args:
            stream: The stream that it goes to.
            row: What a RECORD would hold.

        Returns:
            Whether there are as many rows now as a batch may have.
        """
        self._rows.setdefault(stream, []).append(row)
        return sum(map(len, self._rows.values())) >= self._config.batch_size

    def write(self) -> None:
        """Write the rows into files, and announce these.

        Raises:
            StreamError: They cannot be written.
        """
        for stream, rows in self._rows.items():
            for manifest in self._written(stream, rows):
                self._send(SDKBatchMessage(stream, self._config.encoding, manifest))
        self._rows = {}

    def _written(self, stream: str, rows: list[Row]) -> list[list[str]]:
        batcher = Batcher(self._tap, stream, self._config)
        try:
            return [*batcher.get_batches(iter(rows))]
        except Exception as error:  # noqa: BLE001 - of several libraries
            raise self._explain(error, rows) from None

    def _explain(self, error: Exception, rows: list[Row]) -> StreamError:
        if isinstance(error, ImportError):
            packages = "pip install 'tap-leadintent[parquet,s3]'"
            return StreamError(f"batches need another package: {packages}")
        # The message of a library may quote a record, which may be private.
        reason = getattr(error, "strerror", None) or type(error).__name__
        message = f"batches cannot be written ({reason}); see batch_config"
        if self._config.encoding.format == BatchFileFormat.PARQUET:
            columns = [name for name in rows[0] if not _fits_parquet(name, rows)]
            if columns:
                message = (
                    f"Parquet cannot hold the values of {', '.join(columns)} "
                    f"({reason}); flatten the records, name the fields in "
                    "exclude_fields, or set batch_config.encoding.format to jsonl"
                )
        return StreamError(message)


def _fits_parquet(column: str, rows: list[Row]) -> bool:
    """Return whether a column of rows can be written as Parquet."""
    pyarrow = import_module("pyarrow")
    try:
        table = pyarrow.Table.from_pylist([{column: row.get(column)} for row in rows])
        import_module("pyarrow.parquet").write_table(table, io.BytesIO())
    except Exception:  # noqa: BLE001 - its errors have no common class
        return False
    return True
