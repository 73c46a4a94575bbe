"""A connector of Airbyte's low-code CDK; each thread reads a part of the history."""

import json
import os
import sys
from pathlib import Path
from typing import Any

_SLICE = "stream_partition['slice'].split('/')"


def _manifest(slices: list[str]) -> dict[str, Any]:
    requester = {
        "type": "HttpRequester",
        "url_base": "{{ config['base_url'] }}",
        "path": "/v1/signals/leads",
        "http_method": "POST",
        "authenticator": {
            "type": "BearerAuthenticator",
            "api_token": "{{ config['api_key'] }}",
        },
        "request_body_json": {
            "cursor": {"limit": 100},
            "date_found": {
                "start_time": f"{{{{ {_SLICE}[0] }}}}",
                "end_time": f"{{{{ {_SLICE}[1] }}}}",
            },
        },
    }
    paginator = {
        "type": "DefaultPaginator",
        "pagination_strategy": {
            "type": "CursorPagination",
            "cursor_value": "{{ response.cursor.next }}",
            "stop_condition": "{{ not response.cursor.has_more }}",
        },
        "page_token_option": {
            "type": "RequestOption",
            "inject_into": "body_json",
            "field_path": ["cursor", "after"],
        },
    }
    retriever = {
        "type": "SimpleRetriever",
        "requester": requester,
        "record_selector": {
            "type": "RecordSelector",
            "extractor": {"type": "DpathExtractor", "field_path": ["data"]},
        },
        "paginator": paginator,
        "partition_router": {
            "type": "ListPartitionRouter",
            "values": slices,
            "cursor_field": "slice",
        },
    }
    leads = {
        "type": "DeclarativeStream",
        "name": "leads",
        "primary_key": ["id"],
        "schema_loader": {
            "type": "InlineSchemaLoader",
            "schema": {"type": "object", "properties": {"id": {"type": "string"}}},
        },
        "retriever": retriever,
    }
    return {
        "version": "7.0.0",
        "spec": {
            "type": "Spec",
            "connection_specification": {"type": "object", "properties": {}},
        },
        "type": "DeclarativeSource",
        "check": {"type": "CheckStream", "stream_names": ["leads"]},
        "concurrency_level": {
            "type": "ConcurrencyLevel",
            "default_concurrency": len(slices),
        },
        "streams": [leads],
    }


def main(path: str) -> None:
    """Print Airbyte's messages with all leads."""
    config = json.loads(Path(path).read_bytes())
    config["__injected_declarative_manifest"] = _manifest(config["slices"])
    stream = {
        "name": "leads",
        "json_schema": {},
        "supported_sync_modes": ["full_refresh"],
    }
    catalog = {
        "streams": [
            {
                "stream": stream,
                "sync_mode": "full_refresh",
                "destination_sync_mode": "overwrite",
            }
        ]
    }
    Path("airbyte.json").write_text(json.dumps(config), encoding="utf-8")
    Path("catalog.json").write_text(json.dumps(catalog), encoding="utf-8")
    program = str(Path(sys.executable).with_name("source-declarative-manifest"))
    files = ["--config", "airbyte.json", "--catalog", "catalog.json"]
    os.execv(program, [program, "read", *files])  # noqa: S606 - of its own packages


if __name__ == "__main__":
    main(sys.argv[1])
