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
from tests.support.helpers import Json, Run, last_page, only, status
from tests.support.in_process import run_in_process

Cause = Json | list[Json] | Exception
"""Faults of the sandbox, or what a request raises."""

STREAMS = ("custom_signals", "monitored_accounts", "signal_agents")
"""Streams without time ranges: other tests hold how those are cut."""


@dataclass
class Decision:
    """What follows from a kind of failure for whoever reads the API.

    A new consumer is a field here and a function in `CONSUMERS`.
    """

    cause: Cause
    """What brings it about; all requests fail, but for those before it."""

    run: str
    """What a run does with three streams: whether it retries a request, and whether it
    reads the others."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the kind needs."""

    streams: tuple[str, ...] = STREAMS
    """The streams that are read."""

    skip: int = 0
    """The requests before it, if it is an exception."""

    loads: str = "failed, incomplete"
    """What the last row of `loads` says."""

    test: str = "failed"
    """How `--test` ends."""


LEFT = "each stream is left"
RETRIED_AND_LEFT = f"{LEFT}, retried"
TWICE = "the second ends it"
RETRIED_TWICE = "the second ends it, retried"
ENDED = "the first ends it"
RETRIED_ENDED = "the first ends it, retried"

HTML = "<html>Please log in</html>"
WAIT = {"headers": {"Retry-After": "0.01"}}
AFTER_A_PAGE: Json = {"skip": 1}

ONE_STATUS = {"statuses": ["a"]}
FILTERS = {
    "filters": {
        "custom_signals": ONE_STATUS,
        "monitored_accounts": ONE_STATUS,
        "signal_agents": ONE_STATUS,
    }
}
TWO_PAGES = {"page_size": 2}


def on_page_2(code: int, **more: Any) -> Decision:
    """Return the decision about a status that comes on each second page."""
    cause = status(
        code,
        pages=[2],
        **more,
    )
    # A query that begins again sends a request twice, too.
    return Decision(
        cause,
        RETRIED_AND_LEFT,
        settings=TWO_PAGES,
        test="ok",
    )


def refused_tunnel(code: int) -> Exception:
    """Return what is raised when a proxy refuses a connection."""
    return exceptions.ProxyError(OSError(f"Tunnel connection failed: {code} No"))


def saying(
    problem: str,
    run: str = TWICE,
    **more: Any,
) -> Decision:
    """Return the decision about a status 400 with an explanation."""
    return Decision(
        status(400, body={"error": problem}),
        run,
        **more,
    )


DECISIONS = {
    "200 html": Decision(status(200, body=HTML), RETRIED_TWICE),
    "202": Decision(status(202, body=last_page()), RETRIED_TWICE),
    "a page that says that it is not complete": Decision(
        status(200, body=last_page(status="failure")),
        RETRIED_TWICE,
    ),
    "200 after a page": Decision(
        status(
            200,
            body="[]",
            **AFTER_A_PAGE,
        ),
        RETRIED_AND_LEFT,
    ),
    "200 cut": Decision({"kind": "truncate"}, RETRIED_TWICE),
    "200": Decision(status(200, body="[]"), RETRIED_TWICE),
    "200 empty": Decision(status(200, body=""), RETRIED_TWICE),
    "404 later page, html": on_page_2(404, body=HTML),
    "400 later page": on_page_2(404),
    "400 names a filter": saying("statuses: not a list", settings=FILTERS),
    "400 names the range": saying(
        "end_time: too late",
        streams=("leads", "monitored_leads", "observations"),
    ),
    "400 names the limit": saying("limit: at most 50"),
    "400 filters": Decision(status(400), TWICE, settings=FILTERS),
    "400": Decision(status(400), TWICE),
    "401 answered": Decision(
        status(401, pages=[2]),
        LEFT,
        settings=TWO_PAGES,
        test="ok",
    ),
    "401 after a page": Decision(status(401, **AFTER_A_PAGE), LEFT),
    "401": Decision(status(401), TWICE),
    "403 answered, alone": on_page_2(403),
    "403 answered": Decision(
        status(403, **AFTER_A_PAGE),
        RETRIED_AND_LEFT,
        settings=TWO_PAGES,
    ),
    "403 after a page, wait": Decision(
        status(
            403,
            **AFTER_A_PAGE,
            **WAIT,
        ),
        RETRIED_AND_LEFT,
    ),
    "403 after a page, html": Decision(
        status(
            403,
            body=HTML,
            **AFTER_A_PAGE,
        ),
        RETRIED_AND_LEFT,
    ),
    "403 after a page, names a quota": Decision(
        status(
            403,
            body={"error": "quota"},
            **AFTER_A_PAGE,
        ),
        RETRIED_AND_LEFT,
    ),
    "403 names a quota": Decision(status(403, body={"error": "quota"}), TWICE),
    "403 html": Decision(status(403, body=HTML), TWICE),
    "403 after a page": Decision(status(403, **AFTER_A_PAGE), LEFT),
    "403": Decision(status(403), LEFT),
    "404 answered": Decision(
        [
            status(410, pages=[2]),
            status(
                404,
                pages=[1],
                skip=1,
            ),
        ],
        RETRIED_AND_LEFT,
        settings=TWO_PAGES,
    ),
    "404 after a page": Decision(status(404, **AFTER_A_PAGE), LEFT),
    "404": Decision(status(404), TWICE),
    "409": Decision(status(409), RETRIED_TWICE),
    "413": Decision(status(413), TWICE),
    "420": Decision(status(429), RETRIED_TWICE),
    "501 answered": on_page_2(501),
    "501 after a page": Decision(status(501, **AFTER_A_PAGE), LEFT),
    "501": Decision(status(501), TWICE),
    "503 after a page": Decision(status(503, **AFTER_A_PAGE), RETRIED_AND_LEFT),
    "503": Decision(status(503), RETRIED_TWICE),
    "408": Decision(status(408), RETRIED_TWICE),
    "0 redirect, slash": Decision(
        status(301, headers={"Location": "/v1/monitor/custom-signals/"}),
        TWICE,
    ),
    "0 redirect": Decision(status(302, headers={"Location": "/login"}), TWICE),
    "0": Decision(status(451), TWICE),
    "TooLargeError": Decision(TooLargeError("64 MiB"), TWICE),
    "InvalidSchema": Decision(exceptions.InvalidSchema(), ENDED),
    "InvalidURL": Decision(exceptions.InvalidURL(), ENDED),
    "ProxyError 403 or 407": Decision(refused_tunnel(407), ENDED),
    "ProxyError 5xx": Decision(refused_tunnel(502), RETRIED_ENDED),
    "ProxyError": Decision(exceptions.ProxyError(), RETRIED_ENDED),
    "SSLCertVerificationError": Decision(
        exceptions.SSLError(SSLCertVerificationError()),
        ENDED,
    ),
    "ConnectTimeout after a page": Decision(
        exceptions.ConnectTimeout(),
        "the second ends it, retried",
        skip=1,
    ),
    "ConnectTimeout": Decision(exceptions.ConnectTimeout(), RETRIED_ENDED),
    "Timeout": Decision(exceptions.Timeout(), RETRIED_TWICE),
    "ConnectionError": Decision(IncompleteRead(0, 9), RETRIED_TWICE),
    "SSLError": Decision(exceptions.SSLError(SSLError("wrong version")), RETRIED_ENDED),
    "Exception": Decision(exceptions.ConnectionError(), RETRIED_TWICE),
}


def name_of(statuses: Collection[int], case: str) -> str:
    """Return what `DECISIONS` calls a row of the table of responses."""
    return f"{min(statuses)} {case}".strip()


def name_of_exception(kind: Any, case: str) -> str:
    """Return what `DECISIONS` calls a row of the table of exceptions."""
    first = kind if isinstance(kind, type) else kind[0]
    return f"{first.__name__} {case}".strip()


def test_each_kind_of_failure_is_decided() -> None:
    # It is found by its siblings, and not by the tables.
    kinds = {"a page that says that it is not complete"}
    for statuses, case, *_ in RESPONSES:
        kinds.add(name_of(statuses, case))
    for exception, case, *_ in EXCEPTIONS:
        kinds.add(name_of_exception(exception, case))
    assert DECISIONS.keys() == kinds, "DECISIONS says what each consumer does"
    names = {each.name for each in fields(Decision)}
    assert names == {"cause", "settings", "streams", "skip", *CONSUMERS}


Sent = Counter[tuple[str, str]]
"""How often each request was sent, by its address and its body."""


def of_run(enter: Callable[..., Run], sent: Sent) -> str:
    ends = {
        1: "the first ends it",
        2: "the second ends it",
        3: "each stream is left",
    }
    assert enter().code
    streams = {url for url, _ in sent}
    end = ends[len(streams)]
    if max(sent.values()) > 1:
        end += ", retried"
    return end


def of_loads(enter: Callable[..., Run], _: Sent) -> str:
    row = enter().records("loads")[-1]
    return f"{row['status']}, {'complete' if row['complete_to'] else 'incomplete'}"


def of_test(enter: Callable[..., Run], _: Sent) -> str:
    return "failed" if enter("--test").code else "ok"


CONSUMERS = {
    "run": of_run,
    "loads": of_loads,
    "test": of_test,
}


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("kind", DECISIONS)
def test_what_follows_from_a_failure(  # noqa: PLR0913, PLR0917 - fixtures
    sandbox: Sandbox,
    config: Json,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    consumer: str,
) -> None:
    decision = DECISIONS[kind]
    sent: Sent = Counter()
    send = requests.Session.send

    def fail(
        session: requests.Session,
        request: Any,
        **options: Any,
    ) -> Any:
        sent[request.url, request.body] += 1
        is_hit = sent.total() > decision.skip
        if isinstance(decision.cause, Exception) and is_hit:
            raise decision.cause
        return send(session, request, **options)

    if isinstance(decision.cause, dict):
        sandbox.faults(decision.cause)
    elif isinstance(decision.cause, list):
        sandbox.faults(*decision.cause)
    monkeypatch.setattr("requests.Session.send", fail)
    config |= {
        "max_retries": 1,
        "load_receipts": True,
        **decision.settings,
    }
    names = (*decision.streams, "loads")
    catalog = only(*names, of=TapLeadIntent(config=config).catalog_dict)
    enter = partial(
        run_in_process,
        tmp_path,
        config,
        catalog=catalog,
    )
    assert CONSUMERS[consumer](enter, sent) == getattr(decision, consumer)
