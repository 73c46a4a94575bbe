"""Writes `docs/tables.md`: `uv run --extra sandbox python -m tests.support.tables_page`.

Columns, types and descriptions come from the streams' schemas, the sample rows from the
sandbox.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tap_leadintent.openapi import API, is_documented
from tap_leadintent.sandbox import running_sandbox
from tests.support.helpers import STREAMS, declared_tap
from tests.support.shaping import shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tap_leadintent.client import LeadIntentStream
    from tap_leadintent.sandbox import Sandbox

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"

_INTRODUCTION = """\
# Tables

What each table holds, how it is keyed and how it joins to the others. This page is made from the streams' schemas (`uv run --extra sandbox python -m tests.support.tables_page`), and a test holds it to them.

Types are those of PostgreSQL and Snowflake, loaded as [Warehouses](warehouses.md) says. Both loaders add columns `_sdc_…` of their own. Every column but the key may be null. The sample rows come from the sandbox, long texts shortened; the real API's fields in `additional_properties` are not documented and may be others.

[`examples/dbt`](examples/dbt/README.md) opens all nested objects into columns.

```mermaid
erDiagram
    signal_agents }o--o{ leads : "sheet.id"
    signal_agents }o--o{ signal_accounts : "sheet.id"
    leads }o--o| signal_accounts : "company.id"
    monitored_accounts ||--o{ observations : "account_id"
    monitored_accounts ||--o{ monitored_leads : "account_id"
    custom_signals ||--o{ observations : "signal.id"
    signal_agents { text id PK }
    leads { text id PK }
    signal_accounts { text record_key PK }
    monitored_accounts { text record_key PK }
    observations { text record_key PK }
    custom_signals { text record_key PK }
    monitored_leads { text record_key PK }
```

Only `sheet` and `company` of agents and leads are in the API's description. The other joins are over fields in `additional_properties`, as the sandbox has them: look whether your records have them too.
"""

_JOINS = {
    "signal_agents": "`sheet ->> 'id'` with that of `leads`: several agents may fill one sheet, so it does not say which of them found a lead.",
    "leads": "`sheet ->> 'id'` with `signal_agents`, `company ->> 'id'` with itself for the leads of one company.",
    "signal_accounts": "In the sandbox, `id` with `company ->> 'id'` of `leads`.",
    "monitored_accounts": "In the sandbox, `id` with `account_id` of `observations` and `monitored_leads`.",
    "observations": "In the sandbox, `additional_properties ->> 'account_id'` with `monitored_accounts.id`, `additional_properties -> 'signal' ->> 'id'` with `custom_signals.id`.",
    "custom_signals": "In the sandbox, `id` with the `signal` of `observations`.",
    "monitored_leads": "In the sandbox, `additional_properties ->> 'account_id'` with `monitored_accounts.id`.",
}

TYPES = {
    "string": ("text", "VARCHAR"),
    "date-time": ("timestamp", "TIMESTAMP_NTZ"),
    "number": ("numeric", "FLOAT"),
    "boolean": ("boolean", "BOOLEAN"),
    "object": ("jsonb", "VARIANT"),
    "array": ("jsonb", "VARIANT"),
}

CLOCK = "2026-06-01T00:00:00Z"
"""Where the clock of the sandbox stands."""

_WINDOW_END = "2026-06-01T00:00:00.000000Z"
"""What a run at that instant would say."""

_LONGEST = 60
"""Characters of a text in a sample row."""


def page(sandbox: Sandbox) -> str:
    """Give the page, with sample rows from a sandbox as it starts."""
    streams = {stream.name: stream for stream in declared_tap().discover_streams()}
    parts = [_INTRODUCTION]
    for name in STREAMS:
        parts.extend(_table(streams[name], sandbox.records(name)[0]))
    return "\n".join(parts)


def _table(stream: LeadIntentStream, record: dict[str, Any]) -> Iterator[str]:
    (key,) = stream.primary_keys
    method = stream.replication_method
    if stream.replication_key:
        method += f" on `{stream.replication_key}`"
    summary = API.spec["components"]["schemas"][_record_of(stream.name)]["description"]
    yield f"## {stream.name}\n\n{summary}\n"
    yield f"Key `{key}`, {method}. {_JOINS[stream.name]}\n"
    yield "| Column | PostgreSQL | Snowflake | Description |\n|---|---|---|---|"
    yield from _rows(stream.schema["properties"])
    row = _shortened(shape(stream.name, record))
    if "window_end" in row and stream.replication_key:
        row["window_end"] = _WINDOW_END
    sample = json.dumps(row, indent=2, ensure_ascii=False)
    yield f"\n```json\n{sample}\n```\n"
    assert is_documented(stream.name) or "In the sandbox" in _JOINS[stream.name]


def _record_of(stream: str) -> str:
    """Give the name of a stream's record in the API's contract."""
    (operation,) = (
        path["post"]
        for path in API.spec["paths"].values()
        if path["post"]["operationId"] == stream
    )
    content = operation["responses"]["200"]["content"]["application/json"]
    reference: str = content["schema"]["properties"]["data"]["items"]["$ref"]
    return reference.rpartition("/")[2]


def _rows(columns: Mapping[str, Any], within: str = "") -> Iterator[str]:
    for name, column in columns.items():
        postgres, snowflake = ("", "") if within else column_types(column)
        cells = f"`{within}{name}`", postgres, snowflake, column["description"]
        yield f"| {' | '.join(cells)} |"
        yield from _rows(column.get("properties", {}), f"{within}{name}.")


def column_types(column: Mapping[str, Any]) -> tuple[str, str]:
    """Give the types of a column in PostgreSQL and Snowflake."""
    kinds = column["type"] if isinstance(column["type"], list) else [column["type"]]
    (kind,) = {*kinds} - {"null"}
    return TYPES[column.get("format", kind)]


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value[:1]]
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}…"
    return value


if __name__ == "__main__":
    with running_sandbox("--clock", CLOCK) as started:
        PAGE.write_text(page(started), encoding="utf-8")
