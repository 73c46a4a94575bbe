"""A run that cannot succeed ends soon: with one stream, or with two that fail alike."""

from __future__ import annotations

import socket
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.faults import status
from tests.support.helpers import API_KEY, RANGES, STREAMS, each_reading_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tap_leadintent.sandbox import Sandbox
    from tests.support.faults import Rule
    from tests.support.helpers import Run

HURRIED = "tests.support.hurried"
FIRST, SECOND, *OTHERS = sorted(STREAMS)

SILENCE: Rule = {"kind": "hang", "seconds": 60}

PASSING: dict[str, Rule] = {
    "503": status(503),
    "reset": {"kind": "reset"},
    "silence": SILENCE,
    "html": {"kind": "html"},
}
"""What another try may mend."""

REFUSED = {str(code): status(code) for code in (404, 501, 505)}
"""What is not tried again."""


def ending(base_url: str, *not_tried: str) -> str:
    """Give the end of the last line of a run that was ended."""
    return f"; not tried after that: {', '.join(not_tried)}; base_url is {base_url}"


@pytest.fixture
def unserved() -> Iterator[str]:
    """An address that refuses connections, and that nobody else takes meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_an_api_that_is_down_is_given_up_once(
    tap: Callable[..., Run], unserved: str
) -> None:
    down = {"base_url": unserved, "api_key": API_KEY, "max_retries": 4}
    run = tap(down, module=HURRIED)
    line = run.failed()
    assert line.startswith(
        f"1 of {len(STREAMS)} streams failed: {FIRST}: gave up after 5 "
    )
    assert line.endswith(ending(unserved, SECOND, *OTHERS))
    assert run.stderr.count("; try ") == 4


def test_a_wrong_key_is_sent_once(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    line = tap({**config, "api_key": "wrong-7c2e"}).failed()
    assert line.startswith(f"1 of {len(STREAMS)} streams failed: {FIRST}: HTTP 401")
    assert line.endswith(ending(sandbox.url, SECOND, *OTHERS))
    assert len(sandbox.requests()) == 1


@each_reading_entry
@pytest.mark.parametrize("name", [*PASSING, *REFUSED])
def test_two_streams_that_fail_alike_end_the_run(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    config: dict[str, Any],
    name: str,
    arguments: list[str],
) -> None:
    config |= {"max_retries": 2}
    if name == "silence":
        config |= {"request_timeout_seconds": 0.3}
    sandbox.faults({**PASSING, **REFUSED}[name])
    line = tap(config, *arguments, module=HURRIED).failed()
    assert line.startswith(f"2 of {len(STREAMS)} streams failed: {FIRST}")
    assert line.endswith(ending(sandbox.url, *OTHERS))
    sent = Counter(request["stream"] for request in sandbox.requests())
    assert sent == {FIRST: 3 if name in PASSING else 1, SECOND: 1}


def test_a_key_that_may_not_read_one_endpoint_may_read_the_next(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults(*({**status(403), "stream": name} for name in (FIRST, SECOND)))
    run = tap(config)
    assert run.failed().startswith(f"2 of {len(STREAMS)} streams failed: {FIRST}")
    for stream in OTHERS:
        assert len(run.records(stream)) == 3


@pytest.mark.parametrize("code", [403, 404, 501, 503])
def test_one_endpoint_that_fails_costs_no_other_stream(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], code: int
) -> None:
    sandbox.faults({**status(code), "stream": FIRST})
    run = tap({**config, "max_retries": 1}, module=HURRIED)
    line = run.failed()
    assert line.startswith(f"1 of {len(STREAMS)} streams failed: {FIRST}: ")
    assert "not tried" not in line
    for stream in (SECOND, *OTHERS):
        assert len(run.records(stream)) == 3


def test_two_streams_that_fail_in_different_ways_cost_no_other(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults({**status(403), "stream": FIRST}, {**status(404), "stream": SECOND})
    run = tap(config)
    assert run.failed().startswith(f"2 of {len(STREAMS)} streams failed: {FIRST}: ")
    for stream in OTHERS:
        assert len(run.records(stream)) == 3


def test_once_a_page_has_come_each_stream_has_its_retries_and_its_chance(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    """The second stream has one try for its first page, and more for its second."""
    later = OTHERS[:2]
    sandbox.faults(
        {**status(503), "stream": FIRST},
        {**status(503), "stream": SECOND, "skip": 1, "times": 2},
        *({**status(403), "stream": stream} for stream in later),
    )
    run = tap({**config, "page_size": 2, "max_retries": 2}, module=HURRIED)
    assert run.failed().startswith(f"3 of {len(STREAMS)} streams failed: {FIRST}: ")
    for stream in (SECOND, *OTHERS):
        assert len(run.records(stream)) == (0 if stream in later else 3)


def test_discovery_is_given_up_once(tap: Callable[..., Run], unserved: str) -> None:
    down = {"base_url": unserved, "api_key": API_KEY, "max_retries": 2}
    run = tap({**down, "infer_columns": True}, "--discover", module=HURRIED)
    run.failed()
    assert run.stderr.count("; try ") == 2
    assert run.stdout == ""


def test_a_key_that_is_refused_midway_costs_one_stream(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults({**status(401), "stream": "leads"})
    run = tap(config)
    assert run.failed().startswith(
        f"1 of {len(STREAMS)} streams failed: leads: HTTP 401"
    )
    assert "not tried" not in run.stderr
    for stream in STREAMS:
        assert len(run.records(stream)) == (0 if stream == "leads" else 3)


def test_what_was_covered_before_stays_covered(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    config["start_date"] = "2025-05-01"
    before = tap(config).succeeded()
    sandbox.faults(status(401))
    run = tap(config, state=before.state)
    run.failed()
    for stream in RANGES:
        kept = before.state["bookmarks"][stream]
        assert run.state["bookmarks"][stream] == kept
