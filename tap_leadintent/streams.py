"""The seven streams, one for each endpoint of the API description."""

from __future__ import annotations

from tap_leadintent.client import LeadIntentStream
from tap_leadintent.openapi import (
    RECORD_KEY,
    SIGNAL_OBSERVED_AT,
    WINDOW_END,
    RecordSchema,
)
from tap_leadintent.records.shaper import signal_observed_at
from tap_leadintent.replication.time_range import TimeRange


class SignalAgents(LeadIntentStream):
    """Signal Agents: `POST /v1/signals/agents`."""

    name = "signal_agents"
    path = "/v1/signals/agents"
    entity = "agent"
    schema = RecordSchema("SignalAgent")
    primary_keys = ("id",)


class Leads(LeadIntentStream):
    """Qualified leads: `POST /v1/signals/leads`."""

    name = "leads"
    path = "/v1/signals/leads"
    entity = "lead"
    schema = RecordSchema("Lead", SIGNAL_OBSERVED_AT)
    primary_keys = ("id",)
    replication_key = SIGNAL_OBSERVED_AT
    ranges = (
        TimeRange("date_found"),
        TimeRange("latest_signal", time_of=signal_observed_at),
    )


class SignalAccounts(LeadIntentStream):
    """Accounts surfaced by signals: `POST /v1/signals/accounts`."""

    name = "signal_accounts"
    path = "/v1/signals/accounts"
    entity = "account"
    schema = RecordSchema("SignalAccount", RECORD_KEY, WINDOW_END)
    primary_keys = (RECORD_KEY,)
    replication_key = WINDOW_END
    ranges = (TimeRange("date_found"), TimeRange("latest_signal"))


class MonitoredAccounts(LeadIntentStream):
    """The current monitored-account queue: `POST /v1/monitor/accounts`."""

    name = "monitored_accounts"
    path = "/v1/monitor/accounts"
    entity = "account"
    schema = RecordSchema("MonitoredAccount", RECORD_KEY, WINDOW_END)
    primary_keys = (RECORD_KEY,)
    ranges = (TimeRange("latest_activity"),)


class Observations(LeadIntentStream):
    """The history of observations: `POST /v1/monitor/signals`."""

    name = "observations"
    path = "/v1/monitor/signals"
    entity = "observation"
    schema = RecordSchema("Observation", RECORD_KEY)
    primary_keys = (RECORD_KEY,)
    replication_key = "observed_at"
    ranges = (TimeRange("observed_at"),)


class CustomSignals(LeadIntentStream):
    """Custom Signal definitions: `POST /v1/monitor/custom-signals`."""

    name = "custom_signals"
    path = "/v1/monitor/custom-signals"
    entity = "signal"
    schema = RecordSchema("CustomSignal", RECORD_KEY)
    primary_keys = (RECORD_KEY,)


class MonitoredLeads(LeadIntentStream):
    """Leads of monitored accounts: `POST /v1/monitor/leads`."""

    name = "monitored_leads"
    path = "/v1/monitor/leads"
    entity = "lead"
    schema = RecordSchema("MonitoredLead", RECORD_KEY, WINDOW_END)
    primary_keys = (RECORD_KEY,)
    replication_key = WINDOW_END
    ranges = (TimeRange("latest_activity"),)


STREAMS: tuple[type[LeadIntentStream], ...] = (
    SignalAgents,
    Leads,
    SignalAccounts,
    MonitoredAccounts,
    Observations,
    CustomSignals,
    MonitoredLeads,
)
