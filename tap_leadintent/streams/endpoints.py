"""The streams, one for each endpoint of the API description."""

from functools import partial
from types import MappingProxyType

from tap_leadintent.openapi import RECORD_KEY, ComputedColumn, record_schema
from tap_leadintent.records.keys import content_key, own_id
from tap_leadintent.streams.stream import LeadIntentStream
from tap_leadintent.times import time_at

_TIME = {"type": ["string", "null"], "format": "date-time"}


def _record_key(entity: str) -> ComputedColumn:
    description = (
        "Key made by the tap: the record's `id`, else its own `<entity>_id`, else a "
        "SHA-256 over its canonical JSON."
    )
    schema = {"type": ["string"], "description": description}
    compute = partial(own_id, f"{entity}_id")
    return ComputedColumn(
        RECORD_KEY,
        schema,
        compute,
        content_key,
    )


_SIGNAL_TIME = ("signal", "observed_at")
_SIGNAL_OBSERVED_AT = ComputedColumn(
    "signal_observed_at",
    {**_TIME, "description": "`signal.observed_at` in UTC."},
    partial(time_at, _SIGNAL_TIME),
    source=_SIGNAL_TIME,
)
_WINDOW_END = ComputedColumn(
    "window_end",
    {**_TIME, "description": "End of the time window of the request, UTC."},
    lambda _, window_end: window_end,
)


class SignalAgents(LeadIntentStream):
    """Signal Agents: `POST /v1/signals/agents`."""

    name = "signal_agents"
    schema = record_schema("SignalAgent")
    primary_keys = ("id",)


class Leads(LeadIntentStream):
    """Qualified leads: `POST /v1/signals/leads`."""

    name = "leads"
    computed_columns = (_SIGNAL_OBSERVED_AT,)
    schema = record_schema("Lead", *computed_columns)
    primary_keys = ("id",)
    replication_key = "signal_observed_at"
    ranges = ("date_found", "latest_signal")
    time_fields = MappingProxyType({"latest_signal": _SIGNAL_TIME})
    time_column = _SIGNAL_OBSERVED_AT.name
    filtered_fields = MappingProxyType(
        {
            "signals": ("signal", "type"),
            "sheet_ids": ("sheet", "id"),
            "company_ids": ("company", "id"),
            "lead_country_codes": ("country_code",),
            "company_country_codes": ("company", "country_code"),
        }
    )


class SignalAccounts(LeadIntentStream):
    """Accounts of the signals side: `POST /v1/signals/accounts`."""

    name = "signal_accounts"
    computed_columns = (_record_key("account"), _WINDOW_END)
    schema = record_schema("SignalAccount", *computed_columns)
    replication_key = "window_end"
    ranges = ("date_found", "latest_signal")


class MonitoredAccounts(LeadIntentStream):
    """The current monitored-account queue: `POST /v1/monitor/accounts`.

    It is a full table, as it has no replication key. A catalog can make it incremental.
    """

    name = "monitored_accounts"
    computed_columns = (_record_key("account"), _WINDOW_END)
    schema = record_schema("MonitoredAccount", *computed_columns)
    ranges = ("latest_activity",)


class Observations(LeadIntentStream):
    """The history of observations: `POST /v1/monitor/signals`."""

    name = "observations"
    computed_columns = (_record_key("observation"),)
    schema = record_schema("Observation", *computed_columns)
    replication_key = "observed_at"
    ranges = ("observed_at",)
    time_fields = MappingProxyType({"observed_at": ("observed_at",)})
    time_column = "observed_at"


class CustomSignals(LeadIntentStream):
    """Custom Signal definitions: `POST /v1/monitor/custom-signals`."""

    name = "custom_signals"
    computed_columns = (_record_key("signal"),)
    schema = record_schema("CustomSignal", *computed_columns)


class MonitoredLeads(LeadIntentStream):
    """Leads of monitored accounts: `POST /v1/monitor/leads`."""

    name = "monitored_leads"
    computed_columns = (_record_key("lead"), _WINDOW_END)
    schema = record_schema("MonitoredLead", *computed_columns)
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
