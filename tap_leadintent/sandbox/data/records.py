"""Builders of all kinds of records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.sandbox.data import monitor_records, signal_records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tap_leadintent.sandbox.data.draft import Draft

BUILDERS: Mapping[str, Callable[[Draft], dict[str, Any]]] = {
    "signal_agents": signal_records.agent,
    "leads": signal_records.lead,
    "signal_accounts": signal_records.account,
    "monitored_accounts": monitor_records.monitored_account,
    "observations": monitor_records.observation,
    "custom_signals": monitor_records.custom_signal,
    "monitored_leads": monitor_records.monitored_lead,
}
"""How a record is built, by stream."""
