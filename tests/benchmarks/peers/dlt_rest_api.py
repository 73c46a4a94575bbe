"""dlt's `rest_api` source, in two ways.

As it is, the source is read without a pipeline, so dlt infers no schema, and each lead
is printed. With `files` in the configuration, a pipeline extracts and normalizes into
JSONL files in that folder, ready to be loaded, which is what users of dlt run. The
files are not compressed, and nested objects stay whole, as in the other clients.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import dlt
import orjson
from dlt.destinations import filesystem
from dlt.sources.rest_api import rest_api_source


def _resource(number: int, text: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {"cursor": {"limit": 100}}
    if text is not None:
        start, end = text.split("/")
        body["date_found"] = {"start_time": start, "end_time": end}
    return {
        "name": f"leads_{number}",
        "endpoint": {
            "path": "/v1/signals/leads",
            "method": "POST",
            "json": body,
            "data_selector": "data",
        },
    }


def _client(config: dict[str, Any]) -> dict[str, Any]:
    return {
        "base_url": config["base_url"],
        "auth": {"type": "bearer", "token": config["api_key"]},
        "paginator": {
            "type": "cursor",
            "cursor_path": "cursor.next",
            "cursor_body_path": "cursor.after",
            "has_more_path": "cursor.has_more",
        },
    }


def main(path: str) -> None:
    """Read all leads."""
    config = orjson.loads(Path(path).read_bytes())
    slices: list[str | None] = config.get("slices") or [None]
    os.environ |= {
        "EXTRACT__WORKERS": str(len(slices)),
        "NORMALIZE__DATA_WRITER__DISABLE_COMPRESSION": "true",
        "RUNTIME__DLTHUB_TELEMETRY": "false",
    }
    resources = [_resource(number, text) for number, text in enumerate(slices)]
    source = rest_api_source(
        {"client": _client(config), "resources": resources},
        parallelized=len(slices) > 1,
        max_table_nesting=0,
    )
    folder = config.get("files")
    if folder is None:
        for lead in source:
            line = orjson.dumps(lead, option=orjson.OPT_APPEND_NEWLINE)
            sys.stdout.buffer.write(line)
    else:
        destination = filesystem(folder)
        pipeline = dlt.pipeline("leads", pipelines_dir=folder, destination=destination)
        pipeline.extract(source, loader_file_format="jsonl")
        pipeline.normalize()


if __name__ == "__main__":
    main(sys.argv[1])
