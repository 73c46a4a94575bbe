"""The seven streams, one for each endpoint of the API description."""

from functools import partial

from tap_leadintent.client import LeadIntentStream
from tap_leadintent.openapi import (
    RECORD_KEY,
    SIGNAL_OBSERVED_AT,
    WINDOW_END,
    TapColumn,
    record_schema,
)
from tap_leadintent.records.keys import own_id
from tap_leadintent.records.shaper import time_at

_TIME = {"type": ["string", "null"], "format": "date-time"}


def _record_key(entity: str) -> TapColumn:
    description = (
        "Key made by the tap: the record's `id`, else its own `<entity>_id`, else a "
        "SHA-256 over its canonical JSON."
    )
    return TapColumn(
        RECORD_KEY,
        {"type": ["string"], "description": description},
        partial(own_id, f"{entity}_id"),
        made_from=("id",),
    )


_SIGNAL_OBSERVED_AT = TapColumn(
    SIGNAL_OBSERVED_AT,
    {**_TIME, "description": "`signal.observed_at` in UTC."},
    partial(time_at, "signal", "observed_at"),
    made_from=("signal", "observed_at"),
)
_WINDOW_END = TapColumn(
    WINDOW_END,
    {
        **_TIME,
        "description": "End of the time window that the record was read in, UTC.",
    },
    lambda _, window_end: window_end,
)


class SignalAgents(LeadIntentStream):
    """Signal Agents: `POST /v1/signals/agents`."""

    name = "signal_agents"
    path = "/v1/signals/agents"
    schema = record_schema("SignalAgent")
    primary_keys = ("id",)


class Leads(LeadIntentStream):
    """Qualified leads: `POST /v1/signals/leads`."""

    name = "leads"
    path = "/v1/signals/leads"
    made_columns = (_SIGNAL_OBSERVED_AT,)
    schema = record_schema("Lead", *made_columns)
    primary_keys = ("id",)
    replication_key = SIGNAL_OBSERVED_AT
    ranges = ("date_found", "latest_signal")


class SignalAccounts(LeadIntentStream):
    """Accounts surfaced by signals: `POST /v1/signals/accounts`."""

    name = "signal_accounts"
    path = "/v1/signals/accounts"
    made_columns = (_record_key("account"), _WINDOW_END)
    schema = record_schema("SignalAccount", *made_columns)
    primary_keys = (RECORD_KEY,)
    replication_key = WINDOW_END
    ranges = ("date_found", "latest_signal")


class MonitoredAccounts(LeadIntentStream):
    """The current monitored-account queue: `POST /v1/monitor/accounts`."""

    name = "monitored_accounts"
    path = "/v1/monitor/accounts"
    made_columns = (_record_key("account"), _WINDOW_END)
    schema = record_schema("MonitoredAccount", *made_columns)
    primary_keys = (RECORD_KEY,)
    ranges = ("latest_activity",)


class Observations(LeadIntentStream):
    """The history of observations: `POST /v1/monitor/signals`."""

    name = "observations"
    path = "/v1/monitor/signals"
    made_columns = (_record_key("observation"),)
    schema = record_schema("Observation", *made_columns)
    primary_keys = (RECORD_KEY,)
    replication_key = "observed_at"
    ranges = ("observed_at",)


class CustomSignals(LeadIntentStream):
    """Custom Signal definitions: `POST /v1/monitor/custom-signals`."""

    name = "custom_signals"
    path = "/v1/monitor/custom-signals"
    made_columns = (_record_key("signal"),)
    schema = record_schema("CustomSignal", *made_columns)
    primary_keys = (RECORD_KEY,)


class MonitoredLeads(LeadIntentStream):
    """Leads of monitored accounts: `POST /v1/monitor/leads`."""

    name = "monitored_leads"
    path = "/v1/monitor/leads"
    made_columns = (_record_key("lead"), _WINDOW_END)
    schema = record_schema("MonitoredLead", *made_columns)
    primary_keys = (RECORD_KEY,)
    replication_key = WINDOW_END
    ranges = ("latest_activity",)


STREAMS: tuple[type[LeadIntentStream], ...] = (
    SignalAgents,
    Leads,
    SignalAccounts,
    MonitoredAccounts,
    Observations,
    CustomSignals,
    MonitoredLeads,
)
