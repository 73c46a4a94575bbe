"""What a warehouse has to hold of the API's records."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

# Columns that hold a field of the record as it is.
FIELDS = {
    "signal_agents": (
        *("id", "type", "name", "status", "schedule", "next_check_at", "sheet"),
    ),
    "leads": (
        *("id", "full_name", "title", "country_code", "profile", "company", "sheet"),
        *("signal", "qualification", "score"),
    ),
    "signal_accounts": ("id",),
    "monitored_accounts": ("id",),
    "observations": ("id", "observed_at"),
    "custom_signals": ("id",),
    "monitored_leads": ("id",),
}
TIMES = {"next_check_at", "observed_at"}


def instant(value: str | datetime | None) -> datetime | None:
    """Read a time; one without an offset is UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=value.tzinfo or UTC) if value else None


def expected_row(stream: str, record: dict[str, Any]) -> dict[str, Any]:
    """Work out from the API's record what a warehouse has to hold."""
    row = {
        name: instant(record.get(name)) if name in TIMES else record.get(name)
        for name in FIELDS[stream]
    }
    if stream == "leads":
        row["signal_observed_at"] = instant(
            (record.get("signal") or {}).get("observed_at")
        )
    elif stream != "signal_agents":
        row["record_key"] = record["id"]
    rest = {name: value for name, value in record.items() if name not in row}
    row["additional_properties"] = rest or None
    return row
