"""Batches and catalogs for tests of what is emitted."""

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support.helpers import only, select
from tests.support.store import Store


def batch_config(folder: Path, size: int = 10) -> dict[str, Any]:
    return {
        "encoding": {"format": "jsonl", "compression": "gzip"},
        "storage": {"root": folder.as_uri(), "prefix": ""},
        "batch_size": size,
    }


def deselecting(*names: str) -> dict[str, Any]:
    """Return a catalog in which a field is deselected, named from the outside in."""
    breadcrumb = [part for name in names for part in ("properties", name)]
    changed = only("leads")
    select(changed, "leads", *breadcrumb, selected=False)
    return changed


def batched(store: Store) -> list[list[dict[str, Any]]]:
    """Read the files of each BATCH message."""
    return [
        [
            json.loads(line)
            for url in message["manifest"]
            for line in gzip.decompress(
                Path(urlsplit(url).path).read_bytes()
            ).splitlines()
        ]
        for message in store.of_type("BATCH")
    ]
