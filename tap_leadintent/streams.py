"""The seven streams, one for each endpoint of the API description."""

from functools import partial

from tap_leadintent.client import LeadIntentStream
from tap_leadintent.openapi import RECORD_KEY, TapColumn, record_schema
from tap_leadintent.records.keys import own_id

_TIME = {"type": ["string", "null"], "format": "date-time"}


def _record_key(entity: str) -> TapColumn:
    description = (
        "Key made by the tap: the record's `id`, else its own `<entity>_id`, else a "
        "SHA-256 over its canonical JSON."
    )
    schema = {"type": ["string"], "description": description}
    return TapColumn(RECORD_KEY, schema, ("id",), partial(own_id, f"{entity}_id"))


_SIGNAL_OBSERVED_AT = TapColumn(
    "signal_observed_at",
    {**_TIME, "description": "`signal.observed_at` in UTC."},
    ("signal", "observed_at"),
)
_WINDOW_END = TapColumn(
    "window_end",
    {
        **_TIME,
        "description": "End of the time window that the record was read in, UTC.",
    },
    make=lambda _, window_end: window_end,
)


class SignalAgents(LeadIntentStream):
    """Signal Agents: `POST /v1/signals/agents`."""

    name = "signal_agents"
    schema = record_schema("SignalAgent")
    primary_keys = ("id",)


class Leads(LeadIntentStream):
    """Qualified leads: `POST /v1/signals/leads`."""

    name = "leads"
    made_columns = (_SIGNAL_OBSERVED_AT,)
    schema = record_schema("Lead", *made_columns)
    primary_keys = ("id",)
    replication_key = "signal_observed_at"
    ranges = ("date_found", "latest_signal")


class SignalAccounts(LeadIntentStream):
    """Accounts surfaced by signals: `POST /v1/signals/accounts`."""

    name = "signal_accounts"
    made_columns = (_record_key("account"), _WINDOW_END)
    schema = record_schema("SignalAccount", *made_columns)
    primary_keys = (RECORD_KEY,)
    replication_key = "window_end"
    ranges = ("date_found", "latest_signal")


class MonitoredAccounts(LeadIntentStream):
    """The current monitored-account queue: `POST /v1/monitor/accounts`."""

    name = "monitored_accounts"
    made_columns = (_record_key("account"), _WINDOW_END)
    schema = record_schema("MonitoredAccount", *made_columns)
    primary_keys = (RECORD_KEY,)
    ranges = ("latest_activity",)


class Observations(LeadIntentStream):
    """The history of observations: `POST /v1/monitor/signals`."""

    name = "observations"
    made_columns = (_record_key("observation"),)
    schema = record_schema("Observation", *made_columns)
    primary_keys = (RECORD_KEY,)
    replication_key = "observed_at"
    ranges = ("observed_at",)


class CustomSignals(LeadIntentStream):
    """Custom Signal definitions: `POST /v1/monitor/custom-signals`."""

    name = "custom_signals"
    made_columns = (_record_key("signal"),)
    schema = record_schema("CustomSignal", *made_columns)
    primary_keys = (RECORD_KEY,)


class MonitoredLeads(LeadIntentStream):
    """Leads of monitored accounts: `POST /v1/monitor/leads`."""

    name = "monitored_leads"
    made_columns = (_record_key("lead"), _WINDOW_END)
    schema = record_schema("MonitoredLead", *made_columns)
    primary_keys = (RECORD_KEY,)
    replication_key = "window_end"
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
