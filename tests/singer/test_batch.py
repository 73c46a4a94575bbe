"""Files of batches: complete, private, and never whole in memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import stat
import tempfile
import tracemalloc
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.parse import urlsplit

import pytest
from singer_sdk.batch import Batcher
from singer_sdk.helpers._batch import BatchConfig

from tap_leadintent.errors import StreamError
from tap_leadintent.singer.batch import BatchFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.singer.batch import Record

Sent = list[tuple[str, list[str]]]


def config(folder: Path, **encoding: Any) -> BatchConfig:
    return BatchConfig.from_dict(
        {
            "encoding": {"format": "jsonl", "compression": "gzip", **encoding},
            "storage": {"root": folder.as_uri(), "prefix": "p-"},
        }
    )


def path_of(url: str) -> Path:
    return Path(urlsplit(url).path)


def written(records: Iterator[Record], batch_config: BatchConfig) -> Sent:
    sent: Sent = []

    def send(stream: str, manifest: list[str]) -> None:
        sent.append((stream, manifest))

    with BatchFiles("tap", batch_config, send) as files:
        for record in records:
            files.add("leads", record)
        files.write()
    return sent


def test_memory_holds_no_batch(tmp_path: Path) -> None:
    records = ({"id": str(n), "text": os.urandom(1000).hex()} for n in range(3000))
    written(iter([{"id": "first"}]), config(tmp_path))  # imports what it needs
    tracemalloc.start()
    sent = written(records, config(tmp_path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    ((_, [url]),) = sent
    lines = gzip.decompress(path_of(url).read_bytes()).splitlines()
    assert [json.loads(line)["id"] for line in lines] == [str(n) for n in range(3000)]


def test_files_and_new_folders_are_the_users_own(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        ((_, [url]),) = written(iter([{"id": "a"}]), config(tmp_path / "new"))
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    path = path_of(url)
    assert path.name.startswith("p-tap--leads-")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("compression", ["none", None])
def test_what_is_not_to_be_compressed_is_not(
    tmp_path: Path, compression: str | None
) -> None:
    record = {"id": "a", "score": 1.5}
    batch_config = config(tmp_path, compression=compression)
    ((_, [url]),) = written(iter([record]), batch_config)
    assert url.endswith(".json")
    assert json.loads(path_of(url).read_text(encoding="utf-8")) == record


def test_a_run_that_fails_leaves_no_file(tmp_path: Path) -> None:
    def failing() -> Iterator[Record]:
        yield {"id": "a"}
        msg = "it ended"
        raise StreamError(msg)

    with pytest.raises(StreamError, match="it ended"):
        written(failing(), config(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow beyond 4 KiB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write_parquet(batcher: Batcher, records: Iterator[Record]) -> Iterator[list[str]]:
    """Write as the SDK does where it has the packages."""
    with batcher.batch_config.storage.open("a.parquet", "wb") as place:
        for record in records:
            place.write(record["text"].encode())
    yield ["a.parquet"]


@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
def test_a_full_disk_keeps_no_part_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    monkeypatch.setattr("tap_leadintent.singer.batch.TemporaryFile", io.BytesIO)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Batcher, "get_batches", write_parquet)
    record = {"id": "a", "text": os.urandom(10_000).hex()}
    with full_disk(), pytest.raises(StreamError, match="leads: batches cannot be"):
        written(iter([record]), config(tmp_path / "new", format=file_format))
    assert [path.name for path in tmp_path.rglob("*")] == ["new"]


def test_each_stream_has_a_file_and_a_file_no_more_than_its_batch(
    tmp_path: Path,
) -> None:
    sent: Sent = []
    batch_config = config(tmp_path)
    batch_config.batch_size = 3
    with BatchFiles("tap", batch_config, lambda *a: sent.append(a)) as files:
        full = []
        for stream in ("leads", "people", "leads"):
            full.append(files.is_full)
            files.add(stream, {"id": "a"})
        full.append(files.is_full)
        files.write()
        full.append(files.is_full)
        files.write()
    assert full == [False, False, False, True, False]
    assert [stream for stream, _ in sent] == ["leads", "people"]
    counts = [
        len(gzip.decompress(path_of(url).read_bytes()).splitlines())
        for _, [url] in sent
    ]
    assert counts == [2, 1]


def test_other_formats_are_written_by_the_sdk(tmp_path: Path) -> None:
    given: list[Record] = []

    def get_batches(records: Iterator[Record]) -> Iterator[list[str]]:
        given.extend(records)
        yield ["file:///a.parquet"]

    target = "tap_leadintent.singer.batch.Batcher.get_batches"
    with mock.patch(target, side_effect=get_batches):
        sent = written(iter([{"id": "a"}]), config(tmp_path, format="parquet"))
    assert given == [{"id": "a"}]
    assert sent == [("leads", ["file:///a.parquet"])]
