"""dlt's `rest_api` source, in two ways; each thread reads a part of the history.

As it is, the source is read without a pipeline, so dlt infers no schema, and each lead
is printed. With `database` in the configuration, a pipeline loads into a PostgreSQL,
merged by key. Nested data stays whole.
"""

import os
import sys
from pathlib import Path
from typing import Any

import dlt
import orjson
from dlt.destinations import postgres
from dlt.sources.rest_api import rest_api_source


def _resource(number: int, text: str) -> dict[str, Any]:
    start, end = text.split("/")
    found = {"start_time": start, "end_time": end}
    return {
        "name": f"leads_{number}",
        "table_name": "leads",
        "primary_key": "id",
        "write_disposition": "merge",
        "endpoint": {
            "path": "/v1/signals/leads",
            "method": "POST",
            "json": {"cursor": {"limit": 100}, "date_found": found},
            "data_selector": "data",
        },
    }


def main(path: str) -> None:
    """Read or load all leads."""
    config = orjson.loads(Path(path).read_bytes())
    slices = config["slices"]
    workers = str(len(slices))
    os.environ |= {
        "EXTRACT__WORKERS": workers,
        "LOAD__WORKERS": workers,
        "RUNTIME__DLTHUB_TELEMETRY": "false",
    }
    client = {
        "base_url": config["base_url"],
        "auth": {"type": "bearer", "token": config["api_key"]},
        "paginator": {
            "type": "cursor",
            "cursor_path": "cursor.next",
            "cursor_body_path": "cursor.after",
            "has_more_path": "cursor.has_more",
        },
    }
    resources = [_resource(number, text) for number, text in enumerate(slices)]
    source = rest_api_source(
        {"client": client, "resources": resources},
        parallelized=True,
        max_table_nesting=0,
    )
    if "database" in config:
        dlt.pipeline(
            "leads",
            pipelines_dir=str(Path(path).with_suffix("")),
            destination=postgres(config["database"]),
            dataset_name=config["schema"],
        ).run(source).raise_on_failed_jobs()
    else:
        for lead in source:
            line = orjson.dumps(lead, option=orjson.OPT_APPEND_NEWLINE)
            sys.stdout.buffer.write(line)


if __name__ == "__main__":
    main(sys.argv[1])
