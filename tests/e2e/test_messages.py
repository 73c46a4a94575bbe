"""The messages of the tap, as the command line logs them.

A message that another test checks has no row here.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import (
    API_KEY,
    assert_keeps_secret,
    enter,
    final_error,
    leads_with,
    only,
    options,
    status,
)

pytestmark = pytest.mark.usefixtures("bare_environment")

LEADS, SIGNALS, ACCOUNTS = map(only, ("leads", "custom_signals", "monitored_accounts"))


@dataclass(frozen=True, kw_only=True)
class Case:
    """What leads to a message, and its level."""

    level: str = "ERROR"
    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings beside address and key; HOST stands for the sandbox's."""

    catalog: Any = field(default_factory=lambda: LEADS)
    state: Any = None
    fault: Mapping[str, Any] | None = None
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def warned(**case: Any) -> Case:
    return Case(level="WARNING", **case)


def page(record: str) -> dict[str, Any]:
    """Return the fault of a page that holds one record, as it is written."""
    cursor = '{"next": "", "has_more": false}'
    return status(200, body=f'{{"data": [{record}], "cursor": {cursor}}}')


def covering(**entry: str) -> dict[str, Any]:
    """Return a state with an entry that has these fields, too."""
    day = {"from": "2025-01-01T00:00:00Z", "to": "2025-01-02T00:00:00Z"}
    coverage = [{"range": "date_found", **day, **entry}]
    return {"bookmarks": {"leads": {"coverage": coverage}}}


def batches_in(root: str) -> dict[str, Any]:
    return {"encoding": {"format": "jsonl"}, "storage": {"root": root}}


INFER = {
    "config": {"infer_columns": True},
    "arguments": ("--discover",),
    "catalog": None,
}

BEFORE_THE_FIRST_REQUEST = {
    "stream_maps: `fake` needs another package: pip install 'tap-leadintent[faker]'": Case(
        config={"stream_maps": {"leads": {"full_name": "fake.name()"}}}
    ),
    "exclude_fields.leads.id: cannot be removed, as the stream's key needs it": Case(
        config={"exclude_fields": {"leads": ["id"]}}
    ),
    "catalog: leads: the key title: there is no such column": Case(
        config={"exclude_fields": {"leads": ["title"]}},
        catalog=leads_with(replication_key="title"),
    ),
    "--state …/state.json: it is the output of `meltano state get`, not a state; give the value of the tap's last STATE, or no state to read everything": Case(
        state={"singer_state": {"bookmarks": {}}}
    ),
}

OF_THE_STATE = {
    "leads: api_key is not the one that the state was made with; if it may read more, …; if it belongs to another organization, use a separate state for it": warned(
        state=covering(key="00000000")
    ),
    "leads: The stream is read from scratch: its state was made for … with the filters 0123456789ab, not for … without filters; its coverage is kept": warned(
        state=covering(filters="0123456789ab")
    ),
    "leads: The state covers a time in the future, up to 9999-01-01T00:00:00Z, which is ignored": warned(
        state=covering(to="9999-01-01T00:00:00Z")
    ),
    "leads: The stream is read from scratch: its state does not say what has been read": warned(
        state={"bookmarks": {"leads": {"replication_key_value": "2025-01-01"}}}
    ),
}

OF_ALL_STREAMS = {
    "1 of 1 streams failed: signal_agents: HTTP 400 …: …; the API does not accept the request; check filters, or lower page_size": Case(
        config={"filters": {"signal_agents": {"statuses": "active"}}},
        catalog=only("signal_agents"),
    ),
    "2 of 3 streams failed: leads, observations: HTTP 401 …: …; the API refused the key; …, deselect the stream, or ask for access; not tried after this: signal_agents; base_url is http://…": Case(
        config={"api_key": "wrong-7c2e-9d41"},
        catalog=only("leads", "observations", "signal_agents"),
    ),
}

OF_LEADS = {
    "HTTP 403 …: …***…; this key may not read this endpoint; deselect the stream, or ask for access": Case(
        fault=status(403, body=f"not for {API_KEY}")
    ),
    "HTTP 404 …: …; the API was not found at this address; check base_url, which is the root of the API without /v1; if other streams can be read, deselect the stream, or ask for access": Case(
        fault=status(404)
    ),
    "HTTP 422 …: …; the API does not accept the request; check filters, or lower page_size": Case(
        config={"start_date": "2025-01-01"}, fault=status(422)
    ),
    "HTTP 413 …: …; the request or its time range is too large for the API; lower window_days": Case(
        config={"start_date": "2025-01-01"}, fault=status(413)
    ),
    "page 1 says has_more but carries no next cursor; the stream stops rather than miss records. Report it to the API's support.": Case(
        fault=status(200, body={"data": [], "cursor": {"has_more": True}})
    ),
}

GAVE_UP = {
    "HTTP 429 …: …; the API wants fewer requests; set max_requests_per_minute, or lower it": Case(
        fault=status(429)
    ),
    "HTTP 503 …: …; the API, or a gateway before it, is down or overloaded; lower concurrency, or try later; if this continues, ask the API's support": Case(
        fault=status(503)
    ),
    "the response is not a page of records (JSON is malformed: …): …; this is a web page, as of a login or a gateway before the API; open base_url in a browser; check base_url, which is the root of the API without /v1, or let this machine through without a login": Case(
        fault=status(200, body="<html>Checking your browser</html>")
    ),
    "127.0.0.1:9 cannot be reached (Connection refused); check base_url, this machine's network, and the firewalls on the way": Case(
        config={"base_url": "http://127.0.0.1:9"}
    ),
    "… does not speak TLS (…); check the port in base_url, and whether it should begin with http:// (for this machine only)": Case(
        config={"base_url": "https://HOST"}
    ),
    "the proxy does not forward requests (Connection refused); check HTTPS_PROXY or ALL_PROXY, with user and password if the proxy needs them, and NO_PROXY": Case(
        config={"base_url": "https://api.example.com"},
        environment={"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""},
    ),
}

OF_A_RUN = {
    "leads: A record contained what no warehouse can store: U+0000 … U+FFFD, NaN … null, …": warned(
        fault=page(r'{"id": "a", "title": "\u0000", "score": {"value": NaN}}')
    ),
    "leads: Some values do not match the types of their columns and are only in additional_properties, or in the object that holds the field, if that is selected: 'signal_observed_at' in 1 record, 'title' in 1 record": warned(
        fault=page(
            '{"id": "a", "title": 5, "signal": {"observed_at": "1764081212345"}}'
        )
    ),
    "leads: 1 field without a column, only in additional_properties: 'revenue'; `meltano config set tap-leadintent _schema` adds columns, see docs/columns.md": warned(
        fault=page('{"id": "a", "revenue": 5}')
    ),
    "monitored_accounts: A record has no id, so its key is made from all its content: when the record changes, it becomes another row": warned(
        catalog=ACCOUNTS, fault=page('{"name": "A"}')
    ),
    "monitored_accounts: No ACTIVATE_VERSION is sent, as records in a BATCH have no version": warned(
        config={
            "emit_activate_version_messages": True,
            "batch_config": batches_in("file://batches"),
        },
        catalog=ACCOUNTS,
    ),
    "custom_signals: HTTP 403 …; the stream is deselected, and its columns are not inferred": warned(
        **INFER, fault=status(403)
    ),
    "custom_signals: … fields without a column, only in additional_properties: …; `meltano config set tap-leadintent _schema` adds columns, see docs/columns.md": Case(
        level="INFO", catalog=SIGNALS
    ),
    "leads: reading all records": Case(level="INFO"),
    "leads: 3 records, 5 requests, … s; complete up to …": Case(level="INFO"),
}

CASES = {
    **BEFORE_THE_FIRST_REQUEST,
    **OF_THE_STATE,
    **OF_ALL_STREAMS,
    **{f"leads: {text}": case for text, case in OF_LEADS.items()},
    **{f"leads: gave up after 1 attempt: {t}": case for t, case in GAVE_UP.items()},
    **OF_A_RUN,
}


@pytest.mark.parametrize(("text", "case"), CASES.items(), ids=CASES)
def test_a_message_is_logged(
    sandbox: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    case: Case,
) -> None:
    monkeypatch.setitem(sys.modules, "faker", None)
    sandbox.faults(*[case.fault] if case.fault else [])
    config = {"base_url": "http://HOST", "api_key": API_KEY, **case.config}
    config["base_url"] = config["base_url"].replace(
        "HOST", urlsplit(sandbox.url).netloc
    )
    if "gave up after 1 attempt" in text:
        config["max_retries"] = 0
    files = options(tmp_path, config=config, catalog=case.catalog, state=case.state)
    result = enter(*case.arguments, *files, env={**case.environment})
    assert result.exit_code == int(case.level == "ERROR"), result.stderr
    pattern = ".*".join(map(re.escape, text.split("…")))
    line = rf".* \| {case.level} +\| .* \| {pattern}"
    assert re.search(f"^{line}$", result.stderr, re.MULTILINE), result.stderr
    if result.exit_code:
        final_error(result.stderr)
    assert "Traceback" not in result.stderr
    assert_keeps_secret(config["api_key"], result.output)
