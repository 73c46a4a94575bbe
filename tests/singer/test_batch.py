"""Files of batches: complete, private, and as they are announced."""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from singer_sdk.batch import Batcher
from singer_sdk.helpers._batch import SDKBatchMessage

from tap_leadintent.errors import StreamError
from tap_leadintent.singer.batch import Batches, Row


def written(
    folder: Path,
    *rows: tuple[str, Row],
    sent: list[SDKBatchMessage] | None = None,
    **encoding: Any,
) -> list[SDKBatchMessage]:
    """Write rows, each with its stream, in one batch; return its messages."""
    sent = [] if sent is None else sent
    config = {
        "encoding": {"format": "jsonl", "compression": "gzip", **encoding},
        "storage": {"root": folder.as_uri(), "prefix": "p-"},
    }
    batches = Batches("tap", config, sent.append)
    for stream, row in rows:
        batches.add(stream, row)
    batches.write()
    batches.write()
    return sent


def path_of(message: SDKBatchMessage) -> Path:
    (url,) = message.manifest
    return Path(urlsplit(url).path)


@pytest.mark.parametrize("compression", ["gzip", "none", None])
def test_each_stream_has_a_file_which_is_what_its_message_says(
    tmp_path: Path, compression: str | None
) -> None:
    rows: list[Row] = [{"id": "a", "score": 1.5}, {"id": "b", "score": None}]
    given = [("leads", rows[0]), ("people", rows[1]), ("leads", rows[1])]
    sent = written(tmp_path, *given, compression=compression)
    assert [message.stream for message in sent] == ["leads", "people"]
    assert {message.encoding.compression for message in sent} == {"gzip"}
    lines = gzip.decompress(path_of(sent[0]).read_bytes()).splitlines()
    assert [json.loads(line) for line in lines] == rows


PRIVATE = "PRIVATEMARK"


@pytest.mark.parametrize("error", [OSError, TypeError, KeyError])
def test_any_error_of_a_batch_file_names_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """The message of a library may quote a record, as that of pyarrow does."""

    def refuse(*_: object) -> Iterator[list[str]]:
        raise error(PRIVATE)

    monkeypatch.setattr(Batcher, "get_batches", refuse)
    line = rf"^batches cannot be written \({error.__name__}\); see batch_config$"
    with pytest.raises(StreamError, match=line):
        written(tmp_path, ("leads", {"id": "a"}))


def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    line = r"^batches need another package: pip install 'tap-leadintent\[parquet,s3\]'$"
    with pytest.raises(StreamError, match=line):
        written(tmp_path, ("leads", {"id": "a"}), format="parquet")


@pytest.mark.parametrize(
    "values",
    [
        *([{}], [2**70], [[{}]], [1, PRIVATE], [True, PRIVATE], [[1, [PRIVATE]]]),
        *([{"x": 1}, PRIVATE], [{"x": 1}, {"x": PRIVATE}]),
    ],
    ids=str,
)
def test_a_column_that_parquet_cannot_hold_is_named_without_its_values(
    tmp_path: Path, values: list[Any]
) -> None:
    pytest.importorskip("pyarrow", reason="an extra that not every environment has")
    rows = [("leads", {"id": "a", "column": value}) for value in values]
    line = "^Parquet cannot hold the values of column .*; flatten the records"
    with pytest.raises(StreamError, match=line) as refusal:
        written(tmp_path, *rows, format="parquet")
    assert PRIVATE not in str(refusal.value)
