"""A run that cannot succeed ends soon: with one stream, or with two that fail alike."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.faults import status
from tests.support.helpers import API_KEY, STREAMS
from tests.support.sockets import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

HURRIED = "tests.support.hurried"
FIRST, SECOND, *OTHERS = sorted(STREAMS)

FAULTS: dict[str, Any] = {
    "503": status(503),
    "reset": {"kind": "reset"},
    "html": {"kind": "html"},
    "404": status(404),
}
"""All but the last may pass, so they are tried again."""


def ending(base_url: str, *not_tried: str) -> str:
    """Give the end of the last line of a run that was ended."""
    return f"; not tried after that: {', '.join(not_tried)}; base_url is {base_url}"


@pytest.mark.parametrize("arguments", [[], ["--discover"]], ids=["sync", "discovery"])
def test_an_api_that_is_down_is_given_up_once(
    tap: Callable[..., Run], arguments: list[str]
) -> None:
    url = f"http://{NOWHERE}"
    config: dict[str, Any] = {"base_url": url, "api_key": API_KEY, "max_retries": 4}
    config["infer_columns"] = bool(arguments)
    run = tap(config, *arguments, module=HURRIED)
    assert "gave up after 5 tries: " in run.failed()
    assert run.stderr.count("; try ") == 4
    if not arguments:
        assert run.failed().endswith(ending(url, SECOND, *OTHERS))


def test_a_wrong_key_is_sent_once(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    line = tap({**config, "api_key": "wrong-7c2e"}).failed()
    assert line.startswith(f"1 of {len(STREAMS)} streams failed: {FIRST}: HTTP 401")
    assert line.endswith(ending(sandbox.url, SECOND, *OTHERS))
    assert len(sandbox.requests()) == 1


@pytest.mark.parametrize(
    ("name", "arguments"), [*((name, []) for name in FAULTS), ("503", ["--test"])]
)
def test_two_streams_that_fail_alike_end_the_run(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    config: dict[str, Any],
    name: str,
    arguments: list[str],
) -> None:
    sandbox.faults(FAULTS[name])
    line = tap({**config, "max_retries": 2}, *arguments, module=HURRIED).failed()
    assert line.startswith(f"2 of {len(STREAMS)} streams failed: {FIRST}")
    assert line.endswith(ending(sandbox.url, *OTHERS))
    sent = Counter(request["stream"] for request in sandbox.requests())
    assert sent == {FIRST: 1 if name == "404" else 3, SECOND: 1}


@pytest.mark.parametrize("codes", [[403, 403], [403, 404], [503]], ids=str)
def test_endpoints_that_fail_otherwise_cost_no_other_stream(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], codes: list[int]
) -> None:
    streams = sorted(STREAMS)
    rules = zip(codes, streams, strict=False)
    sandbox.faults(*({**status(code), "stream": stream} for code, stream in rules))
    run = tap({**config, "max_retries": 1}, module=HURRIED)
    line = run.failed()
    assert line.startswith(f"{len(codes)} of {len(STREAMS)} streams failed: {FIRST}")
    assert "not tried" not in line
    for stream in streams[len(codes) :]:
        assert len(run.records(stream)) == 3


def test_once_a_page_has_come_each_stream_has_its_retries_and_its_chance(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    """The second stream has one try for its first page, and more for its second."""
    later = OTHERS[:2]
    sandbox.faults(
        {**status(503), "stream": FIRST},
        {**status(503), "stream": SECOND, "skip": 1, "times": 2},
        *({**status(401), "stream": stream} for stream in later),
    )
    run = tap({**config, "page_size": 2, "max_retries": 2}, module=HURRIED)
    assert run.failed().startswith(f"3 of {len(STREAMS)} streams failed: {FIRST}: ")
    for stream in (SECOND, *OTHERS):
        assert len(run.records(stream)) == (0 if stream in later else 3)
