"""Under any fault, everything arrives or the run fails and the next one carries on.

These runs take place in this process, for speed; `test_fault_processes` has the ones
that need a process of their own. Kinds of faults, positions in a chain and ways to read
are combined in pairs.
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.faults import (
    BEGIN,
    LEADS,
    PASSING,
    PLANS,
    SLOW,
    read_leads,
    status,
    struck,
)
from tests.support.helpers import API_KEY
from tests.support.servers import answering, listening, response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.faults import Rule

POSITIONS = ("first", "middle", "last")

HARMLESS: dict[str, Rule] = {
    "empty page": {"kind": "empty_page"},
    "duplicate": {"kind": "duplicate"},
}
"""What is odd and no fault."""

ELSEWHERE = {"kind": "redirect", "status": 307, "location": "https://a.example/b"}

REFUSED: dict[str, tuple[Rule, str]] = {
    "403": (status(403), "HTTP 403"),
    "redirect": (ELSEWHERE, "redirects are not followed"),
    "echo": ({"kind": "echo_key", "status": 403}, r"cannot serve Bearer \*\*\*"),
    "no next": ({"kind": "no_next"}, "says has_more but carries no next cursor"),
    "huge": ({"kind": "huge", "bytes": 3_000_000}, "larger than 1 MiB"),
}
"""What ends a stream, and what it then says."""

LOST: dict[str, Rule] = {
    str(code): {"kind": "expire_cursor", "status": code} for code in (400, 410)
}
"""What begins a chain again."""


TRIED_AGAIN = PASSING | SLOW
ALL_RULES = [
    *(PASSING | HARMLESS | LOST).values(),
    *(rule for rule, _ in REFUSED.values()),
]


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_leadintent.api.client.backoff", lambda _: 0.001)
    monkeypatch.setattr("tap_leadintent.api.session.LARGEST_BODY", 2**20)


@pytest.fixture(scope="module")
def expected(server: Sandbox) -> set[str]:
    """Let the sandbox show leads to all tests; give their ids."""
    server.configure(api_key=API_KEY, since=BEGIN, sizes={"leads": LEADS})
    return {lead["id"] for lead in server.records("leads")}


@pytest.fixture
def sandbox(server: Sandbox, expected: set[str]) -> Sandbox:
    """Keep the leads from test to test, and nothing else."""
    del expected
    server.faults()
    server.clear_requests()
    return server


def in_pairs(
    rules: Iterable[str], positions: tuple[str, ...] = POSITIONS
) -> pytest.MarkDecorator:
    """Try each rule at each position, and either with each plan."""
    plans = list(PLANS)
    cases = [
        (name, position, plans[(number + place) % len(plans)])
        for number, name in enumerate(rules)
        for place, position in enumerate(positions)
    ]
    return pytest.mark.parametrize(("name", "pages", "plan"), cases)


@pytest.mark.parametrize("plan", PLANS)
def test_without_a_fault(sandbox: Sandbox, expected: set[str], plan: str) -> None:
    run = read_leads(sandbox, PLANS[plan])
    assert (run.error, {*run.ids}, len(run.ids)) == (None, expected, LEADS)
    chains = [request for request in sandbox.requests() if request["page"] == 1]
    assert (len(chains) == 1) == (plan == "one chain")


@in_pairs(TRIED_AGAIN | HARMLESS | LOST)
def test_a_fault_that_passes(
    sandbox: Sandbox, expected: set[str], plan: str, pages: str, name: str
) -> None:
    rule = (TRIED_AGAIN | HARMLESS | LOST)[name]
    sandbox.faults({**rule, "pages": pages, "times": 2})
    seconds = 0.4 if name in SLOW else 5
    run = read_leads(sandbox, {**PLANS[plan], "request_timeout_seconds": seconds})
    assert (run.error, {*run.ids}, len(run.ids)) == (None, expected, LEADS)
    positions = struck(sandbox)
    if name in TRIED_AGAIN:
        assert len(positions) == 2
        assert f"{run.log.count('; try ')} retries" in run.log
        # The last page of a window may be its first, too.
        assert pages == "last" or {(page == 1) for page in positions} == {
            pages == "first"
        }
    elif name in LOST:
        assert run.log.count("The API refused a cursor") == len(positions)
    assert ("; try " in run.log) == (name in TRIED_AGAIN)


@in_pairs(TRIED_AGAIN, ("first", "last"))
def test_a_fault_that_does_not_pass(
    sandbox: Sandbox, expected: set[str], plan: str, pages: str, name: str
) -> None:
    sandbox.faults({**TRIED_AGAIN[name], "pages": pages})
    hurry = {"max_retries": 1, "request_timeout_seconds": 0.4 if name in SLOW else 5}
    first = read_leads(sandbox, {**PLANS[plan], **hurry})
    assert first.error is not None
    assert first.error.startswith("1 of 1 streams failed: leads: page ")
    assert "gave up after 2 tries: " in first.error
    assert len(first.error) < 600
    sandbox.faults()
    second = read_leads(sandbox, PLANS[plan], first.state)
    assert (second.error, {*first.ids, *second.ids}) == (None, expected)


@in_pairs(REFUSED)
def test_a_refusal(
    sandbox: Sandbox, expected: set[str], plan: str, pages: str, name: str
) -> None:
    rule, problem = REFUSED[name]
    sandbox.faults({**rule, "pages": pages, "times": 1})
    first = read_leads(sandbox, PLANS[plan])
    assert first.error is not None
    assert first.error.startswith("1 of 1 streams failed: leads: ")
    assert re.search(problem, first.error)
    assert len(struck(sandbox)) == 1
    assert "; try " not in first.log
    second = read_leads(sandbox, PLANS[plan], first.state)
    assert (second.error, {*first.ids, *second.ids}) == (None, expected)


@pytest.mark.parametrize("seed", range(9))
def test_any_mixture_of_faults(sandbox: Sandbox, expected: set[str], seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a test's choice
    rules = [
        {
            **rule,
            "rate": random.choice([0.05, 0.2]),
            "pages": random.choice([*POSITIONS, None]),
            "seed": random.randrange(10**6),
            "times": 6,
        }
        for rule in random.sample(ALL_RULES, 8)
    ]
    config = [*PLANS.values()][seed % len(PLANS)]
    sandbox.faults(*rules)
    found: set[str] = set()
    state: dict[str, Any] = {}
    # Each run ends a fault of the kind that no try mends; so many there are at most.
    for _ in range(6 * len(rules) + 1):
        run = read_leads(sandbox, config, state)
        found.update(run.ids)
        state = run.state
        assert found <= expected
        if run.error is None:
            break
        assert run.error.startswith("1 of 1 streams failed: leads: ")
    else:
        pytest.fail("it never came to its end")
    assert found == expected


ECHOES: dict[str, bytes] = {
    "json": response(json.dumps({"error": API_KEY}).encode(), status="401 No"),
    "html": response(f"<p>Bearer {API_KEY}".encode()),
    "header": response(b"", f"X-Echo: {API_KEY}", status=f"403 Not for {API_KEY}"),
    "redirect": response(
        b"", f"Location: https://{API_KEY}.example/{API_KEY}", status="302 Found"
    ),
    "rest": response(b"", f"Retry-After: {API_KEY}", status="429 Slow"),
    "no http": API_KEY.encode() + b"\r\n\r\n",
    "length": f"HTTP/1.1 200 OK\r\nContent-Length: {API_KEY}\r\n\r\n".encode(),
    "chunk": f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{API_KEY}".encode(),
    "cursor": response(
        json.dumps({"data": [], "cursor": {"next": API_KEY, "has_more": True}}).encode()
    ),
}
"""Answers that repeat the key, wherever there is room."""


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_a_server_that_repeats_the_key(sandbox: Sandbox, echo: bytes) -> None:
    with listening(answering(echo)) as (host, port):
        config = {"max_retries": 1, "request_timeout_seconds": 0.3}
        run = read_leads(sandbox, {"base_url": f"http://{host}:{port}", **config})
    assert run.error is not None
    assert run.error.startswith("1 of 1 streams failed: leads: ")
    assert "Traceback" not in run.log
