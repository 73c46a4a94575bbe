"""The seven list endpoints as tables: paths, filters, ranges, order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Axis: TypeAlias = Literal["found", "latest"]
"""A time that records are ordered by: when one appeared, or last changed."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One list endpoint (API description: "Endpoints") and how its records live.

    Attributes:
        stream: Name of the stream.
        path: Path of the endpoint; the method is POST.
        prefix: What the records' ids begin with.
        size: Number of records that a new sandbox shows.
        order: Time that records are ordered by when no range is given.
        changes: What moves a known record's `latest` time, if anything.
        leaves: Whether records may leave as the clock advances.
        volatile: Whether records depend on the clock itself.
        times: Names of the record's times, by axis.
        ranges: Axis of each time range in the request body.
        filters: Path in the record of each list filter in the request body.
    """

    stream: str
    path: str
    prefix: str
    size: int
    order: Axis = "found"
    changes: Literal["signals", "activity"] | None = None
    leaves: bool = False
    volatile: bool = False
    times: dict[Axis, str] = field(default_factory=lambda: {"found": "found_at"})
    ranges: dict[str, Axis] = field(default_factory=dict)
    filters: dict[str, tuple[str, ...]] = field(default_factory=dict)


_ENDPOINTS = (
    Endpoint(
        stream="signal_agents",
        path="/v1/signals/agents",
        prefix="agt",
        size=12,
        volatile=True,
        filters={"statuses": ("status",), "agent_ids": ("id",)},
    ),
    Endpoint(
        stream="leads",
        path="/v1/signals/leads",
        prefix="lead",
        size=1000,
        changes="signals",
        times={"found": "found_at", "latest": "observed_at"},
        ranges={"date_found": "found", "latest_signal": "latest"},
        filters={
            "signals": ("signal", "type"),
            "sheet_ids": ("sheet", "id"),
            "company_ids": ("company", "id"),
            "lead_country_codes": ("country_code",),
            "company_country_codes": ("company", "country_code"),
        },
    ),
    Endpoint(
        stream="signal_accounts",
        path="/v1/signals/accounts",
        prefix="co",
        size=300,
        changes="signals",
        times={"found": "found_at", "latest": "observed_at"},
        ranges={"date_found": "found", "latest_signal": "latest"},
        filters={
            "signals": ("signal", "type"),
            "sheet_ids": ("sheet", "id"),
            "company_ids": ("id",),
            "company_country_codes": ("country_code",),
        },
    ),
    Endpoint(
        stream="monitored_accounts",
        path="/v1/monitor/accounts",
        prefix="acc",
        size=150,
        order="latest",
        changes="activity",
        leaves=True,
        times={"found": "found_at", "latest": "activity_at"},
        ranges={"latest_activity": "latest"},
        filters={
            "account_ids": ("id",),
            "signals": ("custom_signals", "id"),
            "statuses": ("status",),
        },
    ),
    Endpoint(
        stream="observations",
        path="/v1/monitor/signals",
        prefix="obs",
        size=600,
        times={"found": "observed_at"},
        ranges={"observed_at": "found"},
        filters={
            "account_ids": ("account_id",),
            "signals": ("signal", "id"),
            "statuses": ("status",),
        },
    ),
    Endpoint(
        stream="custom_signals",
        path="/v1/monitor/custom-signals",
        prefix="csig",
        size=8,
    ),
    Endpoint(
        stream="monitored_leads",
        path="/v1/monitor/leads",
        prefix="mlead",
        size=200,
        order="latest",
        changes="activity",
        times={"found": "found_at", "latest": "activity_at"},
        ranges={"latest_activity": "latest"},
        filters={"account_ids": ("account_id",)},
    ),
)

ENDPOINTS = {endpoint.stream: endpoint for endpoint in _ENDPOINTS}
"""Endpoints by the name of their stream."""

BY_PATH = {endpoint.path: endpoint for endpoint in _ENDPOINTS}
"""Endpoints by path."""
