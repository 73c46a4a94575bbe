"""The messages of the tap, as the command line logs them.

A message that another test checks has no row here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import (
    API_KEY,
    HurriedTap,
    assert_keeps_secret,
    enter,
    entries,
    final_error,
    last_page,
    leads_with,
    only,
    options,
    status,
)
from tests.support.runs import CLOCK, after_since

pytestmark = pytest.mark.usefixtures("bare_environment")

LEADS, SIGNALS, ACCOUNTS = map(only, ("leads", "custom_signals", "monitored_accounts"))


YESTERDAY = after_since(364)
SETTINGS = {
    "base_url": "http://HOST",
    "api_key": API_KEY,
    "start_date": YESTERDAY,
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What leads to a message, and its level."""

    level: str = "ERROR"
    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings beside address and key; HOST stands for the sandbox's."""

    catalog: Any = field(default_factory=lambda: LEADS)
    state: Any = None
    faults: Sequence[Mapping[str, Any]] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def warned(**case: Any) -> Case:
    return Case(
        level="WARNING",
        **case,
    )


def page(record: str) -> dict[str, Any]:
    """Return the fault of one page that holds one record, as it is written."""
    cursor = '{"next": "", "has_more": false}'
    return status(
        200,
        body=f'{{"data": [{record}], "cursor": {cursor}}}',
        times=1,
    )


def covering(**entry: str) -> dict[str, Any]:
    """Return a state with an entry that has these fields, too."""
    covered = {"from": YESTERDAY, "to": CLOCK, **entry}
    coverage = [
        {"range": "date_found", **covered},
        {"range": "latest_signal", **covered},
    ]
    return {"bookmarks": {"leads": {"coverage": coverage}}}


def placed(**place: str) -> dict[str, Any]:
    """Return a state that belongs to a place."""
    state = covering()
    state["bookmarks"]["leads"]["coverage"].insert(0, {"planned": CLOCK, **place})
    return state


def refused(
    code: int,
    stream: str,
    beside: str,
) -> Case:
    """Return the case of two streams of which one gets a status."""
    return Case(
        catalog=only(stream, beside),
        faults=[status(code, stream=stream)],
    )


def incremental(stream: str) -> Any:
    catalog = only(stream)
    entries(catalog)[stream]["replication_method"] = "INCREMENTAL"
    return catalog


BEFORE_THE_FIRST_REQUEST = {
    "api_key: is not set; meltano config set tap-leadintent api_key '…', or TAP_LEADINTENT_API_KEY with --config ENV, or a file with --config (Key of your organization, created in the dashboard under Developer -> API Keys)": Case(
        config={"api_key": None}
    ),
    "base_url: is not set; meltano config set tap-leadintent base_url 'https://api.example.com', or TAP_LEADINTENT_BASE_URL with --config ENV, or a file with --config (Address of the API, without `/v1`)": Case(
        config={"base_url": None}
    ),
    "catalog: leads: the key title: there is no such column": Case(
        config={"exclude_fields": {"leads": ["title"]}},
        catalog=leads_with(replication_key="title"),
    ),
    "--state …/state.json: it has no bookmarks, so it is not a state; give the value of the tap's last STATE, or no state to read everything": Case(
        state={"singer_state": {"bookmarks": {}}}
    ),
}

OF_THE_STATE = {
    "go back to the loader's schema raw, or load everything again (--full-refresh, or tap-leadintent-state forget), or run tap-leadintent-state adopt if only a name has changed: the state does not belong to the loader's schema marts": Case(
        state=placed(schema="raw"),
        environment={"MELTANO_EXTRACT__LOAD_SCHEMA": "marts"},
    ),
    "go back to base_url https://other.example.com, or load everything again (--full-refresh, or tap-leadintent-state forget), or run tap-leadintent-state adopt if only a name has changed: the state does not belong to base_url http://…": Case(
        state=placed(source="https://other.example.com")
    ),
    "leads: go back to the former filters.leads, or load everything again (--full-refresh, or tap-leadintent-state forget --stream leads): the state does not belong to the new filters.leads": Case(
        state=placed(filters="0123456789ab")
    ),
    "leads: There is nothing to do. The stream is read from scratch: its state is damaged ('gestern' is not a time)": warned(
        state=covering(to="gestern")
    ),
    "leads: There is nothing to do. The stream is read from scratch: its state does not say what has been read": warned(
        state={"bookmarks": {"leads": {"replication_key_value": "2025-01-01"}}}
    ),
}

OF_ALL_STREAMS = {
    "1 of 1 streams failed: signal_agents: check filters.signal_agents: the API does not accept the request (HTTP 400 …: …)": Case(
        config={"filters": {"signal_agents": {"statuses": "active"}}},
        catalog=only("signal_agents"),
    ),
    "2 of 3 streams failed: leads, observations: set api_key to a valid key (dashboard, Developer -> API Keys), as the API refused this one (HTTP 401 …: …); 1 stream not tried": Case(
        config={"api_key": "wrong-7c2e-9d41"},
        catalog=only("leads", "observations", "signal_agents"),
    ),
    "2 of 2 streams failed: custom_signals: ask for access, or let this machine's address through, as the API ref…; leads: lower page_size (now 100): the request is too large for the API": Case(
        catalog=only("custom_signals", "leads"),
        state=covering(),
        faults=[
            status(403, stream="custom_signals"),
            status(413, stream="leads"),
        ],
    ),
    "1 of 2 streams failed: leads: look at Developer -> Request Logs in the dashboard, and ask the API's support: the API does not accept a request with date_found, cursor; set a later start_date if the API keeps no older records (HTTP 422…": refused(
        422,
        "leads",
        beside="custom_signals",
    ),
    "1 of 2 streams failed: custom_signals: deselect this stream: the API has no /v1/monitor/custom-signals for your organization (HTTP 404 …: …)": refused(
        404,
        "custom_signals",
        beside="signal_agents",
    ),
    "signal_agents: deselect this stream: the API has no /v1/signals/agents for your organization (HTTP 404 …: …)": refused(
        404,
        "signal_agents",
        beside="custom_signals",
    ),
    "signal_agents: deselect this stream, or ask for access: this key may not read this endpoint (HTTP 403 …: …)": refused(
        403,
        "signal_agents",
        beside="custom_signals",
    ),
    "signal_agents: if no stream can be read any more, set api_key to a valid key, else deselect this stream, or ask for access: the API has accepted this key in this run (HTTP 401 …: …)": refused(
        401,
        "signal_agents",
        beside="custom_signals",
    ),
}

TELL = "tell the API's support; when it is corrected, forget its time"

OF_LEADS = {
    "ask for access, or let this machine's address through, as the API refuses this key or this machine (HTTP 403 …: 20 bytes)": Case(
        faults=[status(403, body=f"not for {API_KEY[:12]}")]
    ),
    "check base_url, which is the root of the API without /v1: the API was not found at this address (HTTP 404 …: …)": Case(
        faults=[status(404)]
    ),
    'look at Developer -> Request Logs in the dashboard, and ask the API\'s support: the API does not accept a request with …cursor (HTTP 422 …: "is unknown")': Case(
        faults=[status(422, body={"error": {"detail": "is unknown", "x": "secret"}})],
    ),
    "lower page_size (now 100): the request is too large for the API (HTTP 413 …: …)": Case(
        faults=[status(413)]
    ),
    "check base_url, which is the root of the API without /v1, or ask its support: the API does not support this request (HTTP 501 …: …)": Case(
        faults=[status(501)]
    ),
    "set base_url to the API itself: this address redirects to https://login.example.com/, perhaps for a login, and redirects are not followed (HTTP 302 …: …)": Case(
        faults=[status(302, headers={"Location": "https://login.example.com/?s=1"})]
    ),
    "ask who runs the firewall or gateway in front of the API to let this machine through, or set user_agent: it refuses the request (HTTP 403 …: 22 bytes of HTML)": Case(
        faults=[status(403, body="<html>Forbidden</html>")]
    ),
    f"{TELL}: 1 record without id left out (from …Z to …Z), everything else was read": Case(
        faults=[page('{"id": "a"}, {"title": "b"}')]
    ),
}

GAVE_UP = {
    "set max_requests_per_minute, or lower it: the API wants fewer requests (… HTTP 429 …: …)": Case(
        faults=[status(429)]
    ),
    "try later: the API, or a gateway in front of it, is down or overloaded; if this continues, ask the API's support (… HTTP 503 …: …)": Case(
        faults=[status(503)]
    ),
    "open base_url in a browser: a web page came in place of records, such as a login page; correct base_url, or let this machine through without a login (… HTTP 200 OK, Server uvicorn: JSON is malformed: …: 34 bytes of HTML)": Case(
        faults=[status(200, body="<html>Checking your browser</html>")]
    ),
    "check base_url, which is the root of the API without /v1: the response is not a page of records; if this continues, ask the API's support (… HTTP 200 OK, Server uvicorn: Object missing required field `data`: 14 bytes of JSON with the fields items)": Case(
        faults=[status(200, body={"items": [1]})]
    ),
    "try later, or lower page_size: … ended its response early; if this continues, ask the API's support (… HTTP 200 OK, Server uvicorn: Input data was truncated: … bytes)": Case(
        faults=[{"kind": "truncate"}]
    ),
    "try later, or lower page_size: … ended its response early; if this continues, ask the API's support (… Connection reset by peer)": Case(
        faults=[{"kind": "reset"}]
    ),
    "if this continues, ask the API's support: the API says that a page lacks records (… it says so in error)": Case(
        config={"max_retries": 0},
        faults=[status(200, body=last_page(error={"message": "shard 3"}))],
    ),
    "try later: the API, or a gateway in front of it, is down or overloaded; if this continues, ask the API's support (… HTTP 500 …: … bytes of JSON with the fields data, cursor)": Case(
        faults=[{"kind": "page", "status": 500}]
    ),
    "check base_url, this machine's network, and the firewalls on the way: 127.0.0.1:9 cannot be reached (… Connection refused)": Case(
        config={"base_url": "http://127.0.0.1:9"}
    ),
    "check the port in base_url, and whether it should begin with http:// (for this machine only): … does not speak TLS (…)": Case(
        config={"base_url": "https://HOST"}
    ),
    "check HTTPS_PROXY or ALL_PROXY, with user and password if the proxy needs them, and NO_PROXY: the proxy does not forward requests (… Connection refused)": Case(
        config={"base_url": "https://api.example.com"},
        environment={"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""},
    ),
}

OF_A_RUN = {
    "leads: A record contained what no warehouse can store: U+0000 … U+FFFD, NaN … null, …": warned(
        faults=[page(r'{"id": "a", "title": "\u0000", "score": {"value": NaN}}')]
    ),
    "leads: See docs/columns.md if this stays. Some values do not match the types of their columns and are kept in additional_properties instead: 'signal_observed_at' in 1 record, 'title' in 1 record": warned(
        faults=[
            page('{"id": "a", "title": 5, "signal": {"observed_at": "1764081212345"}}')
        ]
    ),
    "monitored_accounts: A record has no id, so its key is made from all its content: when the record changes, it becomes another row": warned(
        catalog=ACCOUNTS,
        faults=[page('{"name": "A"}')],
    ),
    "monitored_accounts: Delete rows in the warehouse if they are to go: no ACTIVATE_VERSION is sent, as no record was written": warned(
        config={"emit_activate_version_messages": True},
        catalog=ACCOUNTS,
        faults=[
            status(
                200,
                body=last_page(),
                times=1,
            )
        ],
    ),
    "custom_signals: … fields without a column, only in additional_properties: …; `meltano config set tap-leadintent _schema` adds columns, see docs/columns.md": Case(
        level="INFO",
        catalog=SIGNALS,
    ),
    "custom_signals: Ask the API's support whether records are missing. Some pages differ from all others, also when they are asked for again, in truncated": warned(
        catalog=SIGNALS,
        state={"bookmarks": {"custom_signals": {"envelope": "3flmp"}}},
        faults=[status(200, body=last_page({"id": "a"}, truncated=True))],
    ),
    "custom_signals: Tell the API's support. Pages without cursor.has_more and cursor.next were taken for the last ones of their query": warned(
        catalog=SIGNALS,
        faults=[status(200, body={"data": [], "cursor": {}})],
    ),
    "custom_signals: Unset its replication-method INCREMENTAL: the API has no time range for this stream, so it is read as FULL_TABLE": warned(
        catalog=incremental("custom_signals")
    ),
    'leads: Check filters.leads, as no record matches: {"lead_country_codes": ["Germany"]}': warned(
        config={"filters": {"leads": {"lead_country_codes": ["Germany"]}}}
    ),
}

CASES = {
    **BEFORE_THE_FIRST_REQUEST,
    **OF_THE_STATE,
    **OF_ALL_STREAMS,
    **{f"leads: {text}": case for text, case in OF_LEADS.items()},
    **{f"leads: {text}": case for text, case in GAVE_UP.items()},
    **OF_A_RUN,
}


@pytest.mark.parametrize(
    ("text", "case"),
    CASES.items(),
    ids=CASES,
)
def test_a_message_is_logged(
    sandbox: Sandbox,
    tmp_path: Path,
    text: str,
    case: Case,
) -> None:
    sandbox.faults(*case.faults)
    config = {**SETTINGS, **case.config}
    if config["base_url"]:
        host = urlsplit(sandbox.url).netloc
        config["base_url"] = config["base_url"].replace("HOST", host)
    text_of_leads = text.removeprefix("leads: ")
    if text_of_leads in GAVE_UP:
        config["max_retries"] = 0
    state = case.state
    if text_of_leads in GAVE_UP | OF_LEADS:
        state = covering()
    files = options(
        tmp_path,
        config=config,
        catalog=case.catalog,
        state=state,
    )
    result = enter(
        *files,
        tap=HurriedTap,
        env={**case.environment},
    )
    assert result.exit_code == int(case.level == "ERROR"), result.stderr
    pattern = ".*".join(map(re.escape, text.split("…")))
    line = rf".* \| {case.level} +\| .* \| {pattern}"
    assert re.search(f"^{line}$", result.stderr, re.MULTILINE), result.stderr
    if result.exit_code:
        final_error(result.stderr)
    assert "Traceback" not in result.stderr
    assert_keeps_secret(config["api_key"], result.output)
