"""What a user sees after each kind of failure, wherever the tap reads."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from ssl import SSLCertVerificationError, SSLError
from typing import Any

import pytest
import requests
from requests import exceptions
from urllib3.exceptions import IncompleteRead

from tap_leadintent.api.failures import EXCEPTIONS, RESPONSES
from tap_leadintent.api.session import TooLargeError
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import HurriedTap, Run, only, status
from tests.support.in_process import run_in_process

Cause = dict[str, Any] | Exception
"""A fault of the sandbox, or what a request raises."""


@dataclass(kw_only=True)
class Decision:
    """What follows from a kind of failure for whoever reads the API.

    A new consumer is a field here and a function in `CONSUMERS`.
    """

    cause: Cause
    """What brings it about; all requests fail, but for "after a page"."""

    run: str
    """What a run does with three streams: whether it retries a request, and whether it
    reads the others."""

    filters: Mapping[str, Any] = field(default_factory=dict)
    """Filters that the kind needs."""

    loads: str = "failed, incomplete"
    """What the last row of `loads` says."""

    test: str = "failed"
    """How `--test` ends."""


LEFT, READ = "each stream is left", "all is read"
RETRIED_AND_LEFT = f"{LEFT}, retried"
TWICE, RETRIED_TWICE = "the second ends it", "the second ends it, retried"
ENDED, RETRIED_ENDED = "the first ends it", "the first ends it, retried"

HTML = "<html>Please log in</html>"
WAIT = {"headers": {"Retry-After": "0.01"}}
PAGE: dict[str, Any] = {"data": [], "cursor": {"has_more": False}}
AFTER_A_PAGE: dict[str, Any] = {"skip": 1}

STREAMS = ("custom_signals", "monitored_accounts", "signal_agents")
"""Streams without time ranges: other tests hold how those are cut."""

DECISIONS = {
    "200-299 html": Decision(cause=status(200, body=HTML), run=RETRIED_TWICE),
    "200-299 incomplete": Decision(
        cause=status(200, body={**PAGE, "status": "failure"}), run=RETRIED_TWICE
    ),
    "200-299 after a page": Decision(
        cause=status(200, body="[]", **AFTER_A_PAGE), run=RETRIED_AND_LEFT
    ),
    "200-299": Decision(cause=status(200, body="[]"), run=RETRIED_TWICE),
    "400 filters": Decision(
        cause=status(400),
        run=TWICE,
        filters={name: {"statuses": ["a"]} for name in STREAMS},
    ),
    "400": Decision(cause=status(400), run=TWICE),
    "401 after a page": Decision(cause=status(401, **AFTER_A_PAGE), run=LEFT),
    "401": Decision(cause=status(401), run=TWICE),
    "403 wait": Decision(cause=status(403, **WAIT), run=RETRIED_TWICE),
    "403 html": Decision(cause=status(403, body=HTML), run=TWICE),
    "403": Decision(cause=status(403), run=LEFT),
    "404 after a page": Decision(cause=status(404, **AFTER_A_PAGE), run=LEFT),
    "404": Decision(cause=status(404), run=TWICE),
    "409": Decision(cause=status(409), run=RETRIED_TWICE),
    "413": Decision(cause=status(413), run=TWICE),
    "420": Decision(cause=status(429), run=RETRIED_TWICE),
    "501": Decision(cause=status(501), run=TWICE),
    "503": Decision(cause=status(503), run=RETRIED_TWICE),
    "408": Decision(cause=status(408), run=RETRIED_TWICE),
    "0-399 redirect": Decision(
        cause=status(302, headers={"Location": "/login"}), run=TWICE
    ),
    "0-499": Decision(cause=status(451), run=TWICE),
    "TooLargeError": Decision(cause=TooLargeError("64 MiB"), run=TWICE),
    "InvalidSchema": Decision(cause=exceptions.InvalidSchema(), run=ENDED),
    "InvalidURL": Decision(cause=exceptions.InvalidURL(), run=ENDED),
    "ProxyError": Decision(cause=exceptions.ProxyError(), run=RETRIED_ENDED),
    "SSLCertVerificationError": Decision(
        cause=exceptions.SSLError(SSLCertVerificationError()), run=ENDED
    ),
    "ConnectTimeout": Decision(cause=exceptions.ConnectTimeout(), run=RETRIED_ENDED),
    "Timeout": Decision(cause=exceptions.Timeout(), run=RETRIED_TWICE),
    "ConnectionResetError": Decision(cause=IncompleteRead(0, 9), run=RETRIED_TWICE),
    "SSLError": Decision(
        cause=exceptions.SSLError(SSLError("wrong version")), run=RETRIED_ENDED
    ),
    "Exception": Decision(cause=exceptions.ConnectionError(), run=RETRIED_TWICE),
}


def name_of(statuses: Collection[int], case: str) -> str:
    """Return what `DECISIONS` calls a row of the table of responses."""
    first, last = min(statuses), max(statuses)
    name = f"{first}-{last}" if isinstance(statuses, range) else f"{first}"
    return f"{name} {case}".strip()


KINDS = [name_of(statuses, case) for statuses, case, *_ in RESPONSES] + [
    (kind if isinstance(kind, type) else kind[0]).__name__ for kind, *_ in EXCEPTIONS
]


def test_each_kind_of_failure_is_decided() -> None:
    columns = ", ".join(CONSUMERS)
    undecided = [kind for kind in KINDS if kind not in DECISIONS]
    assert not undecided, f"DECISIONS lacks {undecided}: say for each {columns}"
    assert DECISIONS.keys() == {*KINDS}, "DECISIONS has kinds that are in no table"
    assert CONSUMERS.keys() == {each.name for each in fields(Decision)} - {
        "cause",
        "filters",
    }


def of_run(enter: Callable[..., Run], sent: Counter[str]) -> str:
    ends = {1: "the first ends it", 2: "the second ends it", 3: "each stream is left"}
    if not enter().code:
        return READ
    return ends[len(sent)] + ", retried" * (max(sent.values()) > 1)


def of_loads(enter: Callable[..., Run], _: Counter[str]) -> str:
    row = enter().records("loads")[-1]
    return f"{row['status']}, {'complete' if row['complete_to'] else 'incomplete'}"


def of_test(enter: Callable[..., Run], _: Counter[str]) -> str:
    return "failed" if enter("--test").code else "ok"


CONSUMERS = {"run": of_run, "loads": of_loads, "test": of_test}


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("kind", DECISIONS)
def test_what_follows_from_a_failure(  # noqa: PLR0913, PLR0917 - fixtures
    sandbox: Sandbox,
    config: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    consumer: str,
) -> None:
    decision, sent = DECISIONS[kind], Counter[str]()
    send = requests.Session.send

    def fail(session: requests.Session, request: Any, **options: Any) -> Any:
        sent[request.url] += 1
        if isinstance(decision.cause, Exception):
            raise decision.cause
        return send(session, request, **options)

    if isinstance(decision.cause, dict):
        sandbox.faults(decision.cause)
    monkeypatch.setattr("requests.Session.send", fail)
    config |= {"max_retries": 1, "load_receipts": True}
    config["filters"] = decision.filters
    catalog = only(*STREAMS, "loads", of=TapLeadIntent(config=config).catalog_dict)
    enter = partial(run_in_process, tmp_path, config, catalog=catalog, tap=HurriedTap)
    assert CONSUMERS[consumer](enter, sent) == getattr(decision, consumer)
