"""Under any fault, everything arrives or the run fails and the next one carries on.

These runs take place in this process, for speed. Kinds of faults, positions in a chain
and ways to read are combined in pairs.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from random import Random

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import (
    API_KEY,
    HurriedTap,
    Json,
    Run,
    entries,
    ids_of,
    only,
    status,
)
from tests.support.in_process import run_in_process
from tests.support.runs import CLOCK, after_since
from tests.support.servers import listening, response, serving

Read = Callable[..., Run]
Rule = Json

BEGIN = f"{(datetime.fromisoformat(CLOCK) - timedelta(seconds=8)).isoformat()[:19]}Z"
"""Where the history begins that is read in several windows."""

PLANS: dict[str, Json] = {
    "one list": {"start_date": BEGIN, "end_date": None},
    # A window for each second, and none is empty, as one beyond the clock would be.
    "windows in turn": {
        "start_date": BEGIN,
        "end_date": CLOCK,
        "concurrency": 1,
    },
    "windows at once": {
        "start_date": after_since(-31),
        "concurrency": 8,
    },
}
"""How leads are read."""


PASSING: dict[str, Rule] = {
    "500": status(500),
    "429": status(429, headers={"Retry-After": "0.01"}),
    "reset": {"kind": "reset"},
    "truncate": {"kind": "truncate"},
    "html": status(200, body="<html>Checking your browser</html>"),
}
"""Faults after which a retry may succeed; `test_failure_kinds` has all of them."""

LEADS = 120
PAGE = 10
POSITIONS = ("first", "middle", "last")

TRIED_AGAIN = PASSING | {"hang": {"kind": "hang", "seconds": 60}}

ODD: dict[str, Rule] = {
    "empty page": {"kind": "empty_page"},
    "299 in another charset": {
        "kind": "page",
        "status": 299,
        "charset": "utf-16",
        "headers": {"Content-Type": "application/json; charset=utf-16"},
    },
}
"""What is odd, and no fault."""

RESTARTED = {
    "410": status(
        410,
        pages=[2],
        times=1,
    )
}
"""What begins a chain again, as only a cursor can have expired."""

REFUSED: dict[str, Rule] = {
    "403": status(403),
    "no next": status(200, body='{"data": [], "cursor": {"has_more": true}}'),
    "huge": status(200, body="x" * 3_000_000),
}
"""What ends a stream."""

PROBLEMS = {
    "403": "HTTP 403",
    "no next": "says has_more",
    "huge": "more than 1 MiB",
}
"""What it then says."""


class SmallTap(HurriedTap):
    """The tap, with small bodies."""

    limits = replace(HurriedTap.limits, largest_body=2**20)


@pytest.fixture
def _logs_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAP_LEADINTENT_LOGLEVEL", "DEBUG")


@pytest.fixture
def sandbox(server: Sandbox) -> Sandbox:
    server.configure(
        api_key=API_KEY,
        since=BEGIN,
        sizes={"leads": LEADS},
    )
    return server


@pytest.fixture
def expected(sandbox: Sandbox) -> set[str]:
    """The ids of all leads."""
    return ids_of(sandbox.records("leads"))


@pytest.fixture
def read(server: Sandbox, tmp_path: Path) -> Read:
    """Read leads with these settings and this state, in this process."""
    # Reading the entries of all streams would take longer.
    leads = entries(only("leads"))["leads"]
    base = {
        "base_url": server.url,
        "api_key": API_KEY,
        "page_size": PAGE,
    }

    def read(config: Json, state: Json | None = None) -> Run:
        # A list of everything has no end.
        method = "FULL_TABLE" if config.get("end_date", "") is None else "INCREMENTAL"
        catalog = {"streams": [{**leads, "replication_method": method}]}
        return run_in_process(
            tmp_path,
            base | config,
            catalog=catalog,
            state=state,
            tap=SmallTap,
        )

    return read


def ids(*runs: Run) -> list[str]:
    """Return the ids of the leads that runs have emitted."""
    found: list[str] = []
    for run in runs:
        found += [lead["id"] for lead in run.records("leads")]
    return found


def struck(sandbox: Sandbox) -> list[int]:
    """Return the numbers of the pages that a fault struck."""
    requests = sandbox.requests()
    return [request["page"] for request in requests if request["fault"] is not None]


def in_pairs(rules: Iterable[str]) -> pytest.MarkDecorator:
    """Try each rule at each position, and either with each plan."""
    cases = []
    for first, name in enumerate(rules):
        plans = islice(cycle(PLANS), first, None)
        for position in POSITIONS:
            case = (name, position, next(plans))
            cases.append(case)
    return pytest.mark.parametrize(("name", "pages", "plan"), cases)


@in_pairs(TRIED_AGAIN | ODD | RESTARTED)
def test_a_temporary_fault(  # noqa: PLR0913, PLR0917 - fixtures
    sandbox: Sandbox,
    read: Read,
    expected: set[str],
    plan: str,
    pages: str,
    name: str,
) -> None:
    rule = (TRIED_AGAIN | ODD | RESTARTED)[name]
    sandbox.faults(
        {
            "pages": pages,
            "times": 1,
            **rule,
        }
    )
    # All but the one that hangs must be answered in time, also by a busy machine.
    timeout = {"request_timeout_seconds": 4} if name == "hang" else {}
    run = read(PLANS[plan] | timeout).succeeded()
    assert {*ids(run)} == expected
    # A list that begins again is emitted again.
    is_repeated = name in RESTARTED and plan == "one list"
    assert len(ids(run)) == LEADS + PAGE * is_repeated
    assert len(struck(sandbox)) == 1
    assert re.findall(r" (\d+) retr", run.stderr)[:1] == ["1"] * (name in TRIED_AGAIN)
    assert run.stderr.count("; attempt ") == (name in TRIED_AGAIN)
    assert run.stderr.count("refused a cursor") == (name in RESTARTED)


@in_pairs(PASSING | REFUSED)
def test_a_lasting_fault(  # noqa: PLR0913, PLR0917 - fixtures
    sandbox: Sandbox,
    read: Read,
    expected: set[str],
    plan: str,
    pages: str,
    name: str,
) -> None:
    sandbox.faults({**(PASSING | REFUSED)[name], "pages": pages})
    first = read({**PLANS[plan], "max_retries": 1})
    if first.code:
        assert first.failed().startswith("1 of 1 streams failed: leads: ")
        assert PROBLEMS.get(name, "gave up after ") in first.failed()
    else:
        # A fault of the newest minutes alone is no hole, and is said. A list has none.
        assert name in PASSING
        assert plan != "one list"
        assert "The API cannot return yet what came after" in first.stderr
    # After a page, 403 may be the answer of a rate limit.
    is_retried = name in PASSING or (name == "403" and pages != "first")
    assert ("; attempt " in first.stderr) == is_retried
    sandbox.faults()
    second = read(PLANS[plan], first.state).succeeded()
    assert {*ids(first, second)} == expected


@pytest.mark.parametrize("seed", range(3))
def test_any_mixture_of_faults(
    sandbox: Sandbox,
    read: Read,
    expected: set[str],
    seed: int,
) -> None:
    random = Random(seed)  # noqa: S311 - a test's choice
    all_rules = [*(PASSING | ODD | RESTARTED | REFUSED).values()]
    rules = []
    for rule in random.sample(all_rules, 8):
        changed = {
            **rule,
            "rate": random.choice([0.05, 0.2]),
            "pages": random.choice([*POSITIONS, None]),
            "seed": random.randrange(10**6),
            "times": 6,
        }
        rules.append(changed)
    plan = [*PLANS.values()][seed]
    sandbox.faults(*rules)
    runs: list[Run] = []
    # Each run uses up one fault that no retry helps against; there are at most so many.
    while not runs or runs[-1].code:
        assert len(runs) <= 6 * len(rules), "it never came to its end"
        runs.append(read(plan, runs[-1].state if runs else None))
        assert {*ids(*runs)} <= expected
    assert {*ids(*runs)} == expected


ECHOES: dict[str, bytes] = {
    "refusal": response(
        json.dumps({"error": API_KEY}).encode(),
        f"X-Echo: {API_KEY}",
        status=f"403 Not for {API_KEY}",
    ),
    "redirect": response(b"", f"Location: https://[{API_KEY}", status="302 Found"),
    "no http": API_KEY.encode() + b"\r\n\r\n",
    "chunk": f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{API_KEY}".encode(),
    "cursor": response(
        json.dumps(
            {
                "data": [{"id": "1"}],
                "cursor": {"next": API_KEY, "has_more": True},
            }
        ).encode()
    ),
}
"""Responses that repeat the key, wherever there is room; `read` looks for it."""


@pytest.mark.usefixtures("_logs_everything")
@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_a_server_that_repeats_the_key(read: Read, echo: bytes) -> None:
    with listening(serving(echo)) as (host, port):
        config = {"max_retries": 1, "request_timeout_seconds": 0.3}
        plan = PLANS["one list"]
        run = read(
            {
                **plan,
                "base_url": f"http://{host}:{port}",
                **config,
            }
        )
    assert run.failed().startswith("1 of 1 streams failed: leads: ")
