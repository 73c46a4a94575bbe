"""Batches and catalogs for tests of what is emitted."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tap_leadintent.times import utc_timestamp
from tests.support.helpers import only, select
from tests.support.store import Store

FORMATS = ("jsonl", "arrow", "parquet")


def batch_config(folder: Path, size: int = 10, kind: str = "jsonl") -> dict[str, Any]:
    return {
        "encoding": {"format": kind, "compression": "gzip"},
        "storage": {"root": folder.as_uri(), "prefix": ""},
        "batch_size": size,
    }


def deselecting(*names: str) -> dict[str, Any]:
    """Return a catalog in which a field is deselected, named from the outside in."""
    changed = only("leads")
    select(changed, "leads", *names, selected=False)
    return changed


def path_of(message: dict[str, Any]) -> Path:
    """Return the path of the one file of a BATCH message, as the SDK's targets do."""
    (url,) = message["manifest"]
    return Path(url.removeprefix("file://"))


def read_table(message: dict[str, Any]) -> Any:
    """Read the file of a BATCH message as an Arrow table."""
    pyarrow = pytest.importorskip("pyarrow", reason="an extra, not in all environments")
    path = str(path_of(message))
    if message["encoding"]["format"] == "arrow":
        return pyarrow.ipc.open_file(path).read_all()
    return pytest.importorskip("pyarrow.parquet").read_table(path)


def rows_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Read the file of a BATCH message, as RECORDs would hold its rows."""
    if message["encoding"]["format"] == "jsonl":
        content = path_of(message).read_bytes()
        if message["encoding"]["compression"] == "gzip":
            content = gzip.decompress(content)
        return [json.loads(line) for line in content.splitlines()]
    table = read_table(message)
    decode: dict[str, Callable[[Any], Any]] = {
        "extension<arrow.json>": json.loads,
        "timestamp[us, tz=UTC]": lambda time: utc_timestamp(time.isoformat()),
    }
    kinds = {field.name: str(field.type) for field in table.schema}
    return [
        {
            name: None if value is None else decode.get(kinds[name], lambda v: v)(value)
            for name, value in row.items()
        }
        for row in table.to_pylist()
    ]


def batched(store: Store) -> list[list[dict[str, Any]]]:
    """Read the file of each BATCH message."""
    return [rows_of(message) for message in store.of_type("BATCH")]
