"""The list endpoints: their paths, filters, time ranges and order."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Axis: TypeAlias = Literal["found", "latest"]
"""The time by which records are ordered: when they appeared, or last changed."""


@dataclass(frozen=True)
class Endpoint:
    """A list endpoint (API description: "Endpoints") and the times of its records.

    Attributes:
        stream: Name of the stream.
        path: Path of the endpoint; the method is POST.
        size: Number of records of a new sandbox.
        times: Name of each of a record's times. A record with a latest time changes.
        ranges: For each time range of the request body, the time that it restricts.
        filters: For each list filter of the request body, the path in the record.
    """

    stream: str
    path: str
    size: int
    times: dict[Axis, str] = field(default_factory=lambda: {"found": "found_at"})
    ranges: dict[str, Axis] = field(default_factory=dict)
    filters: dict[str, str] = field(default_factory=dict)


_BY_SIGNAL: dict[Axis, str] = {
    "found": "found_at",
    "latest": "observed_at",
}
_BY_ACTIVITY: dict[Axis, str] = {
    "found": "found_at",
    "latest": "activity_at",
}

_ENDPOINTS = (
    Endpoint(
        "signal_agents",
        "/v1/signals/agents",
        12,
        filters={"statuses": "status", "agent_ids": "id"},
    ),
    Endpoint(
        "leads",
        "/v1/signals/leads",
        487,
        _BY_SIGNAL,
        ranges={"date_found": "found", "latest_signal": "latest"},
        filters={
            "signals": "signal.type",
            "sheet_ids": "sheet.id",
            "company_ids": "company.id",
            "lead_country_codes": "country_code",
            "company_country_codes": "company.country_code",
        },
    ),
    Endpoint(
        "signal_accounts",
        "/v1/signals/accounts",
        193,
        _BY_SIGNAL,
        ranges={"date_found": "found", "latest_signal": "latest"},
    ),
    Endpoint(
        "monitored_accounts",
        "/v1/monitor/accounts",
        137,
        _BY_ACTIVITY,
        ranges={"latest_activity": "latest"},
        filters={
            "account_ids": "id",
            "signals": "custom_signals.id",
            "statuses": "status",
        },
    ),
    Endpoint(
        "observations",
        "/v1/monitor/signals",
        611,
        {"found": "observed_at"},
        ranges={"observed_at": "found"},
        filters={
            "account_ids": "account_id",
            "signals": "signal.id",
            "statuses": "status",
        },
    ),
    Endpoint(
        "custom_signals",
        "/v1/monitor/custom-signals",
        8,
    ),
    Endpoint(
        "monitored_leads",
        "/v1/monitor/leads",
        305,
        _BY_ACTIVITY,
        ranges={"latest_activity": "latest"},
    ),
)

ENDPOINTS = {endpoint.stream: endpoint for endpoint in _ENDPOINTS}
"""Endpoints by the name of their stream."""

BY_PATH = {endpoint.path: endpoint for endpoint in _ENDPOINTS}
"""Endpoints by path."""
