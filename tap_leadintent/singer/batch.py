"""Files of records, which BATCH messages tell a target to load."""

from __future__ import annotations

import gzip
import os
import shutil
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from singer_sdk.batch import Batcher
from singer_sdk.contrib.msgspec import serialize_jsonl
from singer_sdk.helpers._batch import BatchFileFormat, StorageTarget
from typing_extensions import override

from tap_leadintent.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, Self

    from singer_sdk.helpers._batch import BatchConfig

    Record = dict[str, Any]

_LEVEL = 6
"""Compression level of gzip. Lower takes less processor time and more room; higher,
such as the SDK's 9, more time and less room."""


class BatchFiles:
    """Records on their way into files, by the stream that they go to.

    Lines of JSON are compressed one by one into a file that nobody else can open, and
    copied to their place when it is full. So memory holds one record, and a target
    never sees half a file. Parquet needs a whole batch in memory.
    """

    def __init__(
        self, tap: str, config: BatchConfig, send: Callable[[str, list[str]], None]
    ) -> None:
        """Begin with no records.

        Args:
            tap: The tap's name, for those of files.
            config: What files to write, and where.
            send: What to call with a stream and the addresses of its files.
        """
        self._tap = tap
        storage = _Storage(**config.storage.asdict())
        self._config = replace(config, storage=storage)
        self._send = send
        self._count = 0
        self._open: dict[str, _Lines | _Table] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Keep files and new folders from all other users of the machine."""
        self._stack.enter_context(_private_files())
        return self

    def __exit__(self, *_: object) -> None:
        """Drop what has not been written."""
        # A full disk does not even take what is dropped.
        with suppress(OSError):
            self._stack.close()

    @property
    def is_full(self) -> bool:
        """Whether it holds as many records as a batch may have."""
        return self._count >= self._config.batch_size

    def add(self, stream: str, record: Record) -> None:
        """Add a record to the batch of its stream.

        Args:
            stream: The stream that it goes to.
            record: What a RECORD would hold.

        Raises:
            StreamError: It cannot be written.
        """
        with _refusals_of(stream):
            if stream not in self._open:
                self._open[stream] = self._new_file(stream)
            self._open[stream].add(record)
        self._count += 1

    def write(self) -> None:
        """Complete the files, and announce them.

        Raises:
            StreamError: They cannot be written.
        """
        for stream, file in self._open.items():
            with _refusals_of(stream):
                manifests = file.complete()
            for manifest in manifests:
                self._send(stream, manifest)
        self._open, self._count = {}, 0

    def _new_file(self, stream: str) -> _Lines | _Table:
        name = f"{self._tap}--{stream}-{uuid4()}"
        if self._config.encoding.format == BatchFileFormat.JSONL:
            return self._stack.enter_context(_Lines(name, self._config))
        return _Table(Batcher(self._tap, stream, self._config))


class _Storage(StorageTarget):
    """Leaves no part of a file that could not be written whole."""

    @contextmanager
    @override
    def open(self, filename: str, mode: str = "rb") -> Iterator[IO[Any]]:
        # The SDK would write a copy in the folder of temporary files first.
        self._root_path.mkdir(parents=True, exist_ok=True)
        place = self._root_path / filename
        try:
            with place.open(mode) as file:
                yield file
        except BaseException:
            with suppress(Exception):
                place.unlink()
            raise


class _Lines(ExitStack):
    """A file of JSON lines."""

    def __init__(self, name: str, config: BatchConfig) -> None:
        super().__init__()
        self._storage = config.storage
        self._name = f"{config.storage.prefix or ''}{name}.json"
        self._content = self.enter_context(TemporaryFile())  # noqa: SIM115 - ruff knows `with` only
        self._compressed: gzip.GzipFile | None = None
        if config.encoding.compression == "gzip":
            self._name += ".gz"
            self._compressed = gzip.GzipFile(
                fileobj=self._content, mode="wb", compresslevel=_LEVEL
            )
            self.enter_context(self._compressed)

    def add(self, record: Record) -> None:
        (self._compressed or self._content).write(serialize_jsonl(record))

    def complete(self) -> list[list[str]]:
        if self._compressed:
            self._compressed.close()
        self._content.seek(0)
        with self, self._storage.open(self._name, "wb") as place:
            shutil.copyfileobj(self._content, place)
        return [[self._storage.get_url(self._name)]]


class _Table:
    """A file of a format that is written as a whole, by the SDK."""

    def __init__(self, batcher: Batcher) -> None:
        self._batcher = batcher
        self._records: list[Record] = []

    def add(self, record: Record) -> None:
        self._records.append(record)

    def complete(self) -> list[list[str]]:
        return list(self._batcher.get_batches(iter(self._records)))


@contextmanager
def _refusals_of(stream: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ImportError) as error:
        msg = f"{stream}: batches cannot be written ({error}); see batch_config"
        raise StreamError(msg) from None


@contextmanager
def _private_files() -> Iterator[None]:
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
