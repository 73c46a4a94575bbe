"""Under any fault, everything arrives or the run fails and the next one carries on.

Most runs take place in this process, for speed; `test_fault_processes` has the ones
that need a process of their own.
"""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.faults import (
    BEGIN,
    CONFIG,
    ECHOES,
    HARMLESS,
    LEADS,
    LOOPS,
    LOST_CURSORS,
    PASSING,
    PLANS,
    POSITIONS,
    REFUSED,
    SLOW,
    read_leads,
    struck,
)
from tests.support.helpers import API_KEY
from tests.support.servers import answering, listening

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox
    from tests.support.faults import Rule

pytestmark = pytest.mark.usefixtures("_in_a_hurry", "concurrency")

ALL_RULES: dict[str, Rule] = {
    **PASSING,
    **HARMLESS,
    **{name: rule for name, (rule, _) in REFUSED.items()},
    **{f"cursor {name}": rule for name, rule in LOST_CURSORS.items()},
    **LOOPS,
}


@pytest.fixture
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_leadintent.api.client.backoff", lambda _: 0.001)
    monkeypatch.setattr("tap_leadintent.api.session.LARGEST_BODY", 2**20)


@pytest.fixture(params=[1, 8], ids="{} at once".format)
def concurrency(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read one window at a time, and several."""
    monkeypatch.setitem(CONFIG, "concurrency", request.param)
    return int(request.param)


@pytest.fixture(scope="module")
def _leads(server: Sandbox) -> None:
    server.configure(api_key=API_KEY, since=BEGIN, sizes={"leads": LEADS})


@pytest.fixture
def sandbox(server: Sandbox, _leads: None) -> Sandbox:
    """Keep the leads from test to test, and nothing else."""
    server.faults()
    server.clear_requests()
    return server


@pytest.fixture(scope="module")
def expected(server: Sandbox, _leads: None) -> set[str]:
    return {lead["id"] for lead in server.records("leads")}


def matrix(rules: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rule", list(rules.values()), ids=list(rules))


each_plan = pytest.mark.parametrize(
    ("plan", "concurrency"),
    [("one chain", 1), ("several windows", 1), ("several windows", 8)],
    ids=["one chain", "windows in turn", "windows at once"],
    indirect=["concurrency"],
)
"""One chain leaves nothing to read beside it, however many may be read at once."""

in_one_chain = pytest.mark.parametrize("concurrency", [1], indirect=True)
each_position = pytest.mark.parametrize("pages", POSITIONS)


@pytest.mark.parametrize("plan", PLANS)
def test_without_a_fault(sandbox: Sandbox, expected: set[str], plan: str) -> None:
    run = read_leads(sandbox, PLANS[plan])
    run.whole(expected)
    assert len(run.ids) == LEADS
    chains = [request for request in sandbox.requests() if request["page"] == 1]
    assert (len(chains) == 1) == (plan == "one chain")


@matrix(PASSING | HARMLESS)
@each_position
@each_plan
def test_a_fault_that_passes(
    sandbox: Sandbox, expected: set[str], plan: str, pages: str, rule: Rule
) -> None:
    times = 3
    sandbox.faults({**rule, "pages": pages, "times": times})
    run = read_leads(sandbox, PLANS[plan])
    run.whole(expected)
    assert len(run.ids) == LEADS
    positions = struck(sandbox)
    assert len(positions) == times or rule in HARMLESS.values()
    assert positions
    # The last page of a window may be its first, too.
    assert pages == "last" or all(
        (page == 1) == (pages == "first") for page in positions
    )
    retries = run.log.count("; try ")
    assert retries == (0 if rule in HARMLESS.values() else times)
    assert f"{retries} retries" in run.log


@matrix(PASSING | HARMLESS)
@pytest.mark.parametrize("plan", ["one chain", "windows as the tap likes"])
def test_a_fault_now_and_then(
    sandbox: Sandbox, expected: set[str], plan: str, rule: Rule
) -> None:
    sandbox.faults({**rule, "rate": 0.2, "seed": 7})
    run = read_leads(sandbox, PLANS[plan])
    run.whole(expected)
    assert len(run.ids) == LEADS
    assert struck(sandbox)


@matrix(SLOW)
@each_position
@each_plan
def test_a_server_that_takes_for_ever(
    sandbox: Sandbox, expected: set[str], plan: str, pages: str, rule: Rule
) -> None:
    sandbox.faults({**rule, "pages": pages, "times": 1})
    run = read_leads(sandbox, {**PLANS[plan], "request_timeout_seconds": 0.4})
    run.whole(expected)
    assert len(struck(sandbox)) == 1
    assert "; try 2 of 9 in " in run.log


@matrix(PASSING | SLOW)
@each_position
@in_one_chain
def test_a_fault_that_does_not_pass(
    sandbox: Sandbox, expected: set[str], pages: str, rule: Rule
) -> None:
    sandbox.faults({**rule, "pages": pages})
    config = {"max_retries": 1, "request_timeout_seconds": 0.4}
    slow = rule in SLOW.values()
    first = read_leads(sandbox, config if slow else {"max_retries": 1})
    assert first.error is not None
    assert first.error.startswith("1 of 1 streams failed: leads: page ")
    assert "gave up after 2 tries: " in first.error
    assert len(first.error) < 600
    assert len(struck(sandbox)) == 2
    sandbox.faults()
    read_leads(sandbox, {}, first.state).whole(expected)


@pytest.mark.parametrize(("rule", "problem"), list(REFUSED.values()), ids=list(REFUSED))
@each_position
@each_plan
def test_a_refusal(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    sandbox: Sandbox,
    expected: set[str],
    plan: str,
    pages: str,
    rule: Rule,
    problem: str,
) -> None:
    config = PLANS[plan]
    sandbox.faults({**rule, "pages": pages, "times": 1})
    first = read_leads(sandbox, config)
    assert first.error is not None
    assert first.error.startswith("1 of 1 streams failed: leads: ")
    assert re.search(problem, first.error)
    assert len(struck(sandbox)) == 1
    assert "; try " not in first.log
    assert set(first.ids) <= expected
    second = read_leads(sandbox, config, first.state)
    assert second.error is None
    assert {*first.ids, *second.ids} == expected
    # The next run may read all of it again, as its lookback; no run emits a lead twice.
    assert max(len(first.ids), len(second.ids)) <= LEADS


@matrix(LOST_CURSORS)
@pytest.mark.parametrize("pages", ["middle", "last"])
@each_plan
def test_a_cursor_that_expires(
    sandbox: Sandbox, expected: set[str], plan: str, pages: str, rule: Rule
) -> None:
    sandbox.faults({**rule, "pages": pages, "times": 2})
    run = read_leads(sandbox, PLANS[plan])
    run.whole(expected)
    assert len(run.ids) == LEADS
    assert run.log.count("The API refused a cursor") == 2


@matrix(LOST_CURSORS)
@each_plan
def test_a_cursor_that_always_expires(
    sandbox: Sandbox, expected: set[str], plan: str, rule: Rule, concurrency: int
) -> None:
    sandbox.faults(rule)
    first = read_leads(sandbox, PLANS[plan])
    assert f"HTTP {rule['status']}" in str(first.error)
    assert 4 <= len(struck(sandbox)) <= 4 * concurrency
    sandbox.faults()
    second = read_leads(sandbox, PLANS[plan], first.state)
    assert {*first.ids, *second.ids} == expected


@matrix(LOOPS)
@each_position
@each_plan
@pytest.mark.parametrize("times", [1, None])
def test_a_chain_that_leads_back(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    sandbox: Sandbox,
    expected: set[str],
    plan: str,
    pages: str,
    rule: Rule,
    times: int | None,
) -> None:
    sandbox.faults({**rule, "pages": pages, "times": times})
    run = read_leads(sandbox, PLANS[plan])
    if run.error is None:
        run.whole(expected)
    else:
        assert "repeats a cursor that this chain has followed before" in run.error
    assert struck(sandbox)
    assert len(sandbox.requests()) < 60


@pytest.mark.parametrize("seed", range(12))
def test_any_mixture_of_faults(sandbox: Sandbox, expected: set[str], seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a test's choice
    names = random.sample(list(ALL_RULES), 8)
    rules = [
        {
            **ALL_RULES[name],
            "rate": random.choice([0.05, 0.2]),
            "pages": random.choice([*POSITIONS, None]),
            "seed": random.randrange(10**6),
            "times": 6,
        }
        for name in names
    ]
    config = PLANS[random.choice(list(PLANS))]
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


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_a_server_that_repeats_the_key(sandbox: Sandbox, echo: bytes) -> None:
    with listening(answering(echo)) as (host, port):
        config = {"max_retries": 1, "request_timeout_seconds": 0.5}
        run = read_leads(sandbox, {"base_url": f"http://{host}:{port}", **config})
    assert run.error is not None
    assert run.error.startswith("1 of 1 streams failed: leads: ")
    assert "Traceback" not in run.log
