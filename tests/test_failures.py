"""What is logged when a stream fails: the reason, and nothing that hides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import each_reading_entry, only

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

UNHANDLED = "unhandled error"


@each_reading_entry
@pytest.mark.parametrize(
    "change",
    [{"api_key": "wrong-7c2e"}, {"base_url": "http://127.0.0.1:9", "max_retries": 0}],
    ids=["refused", "unreachable"],
)
def test_what_the_tap_reports_is_handled(
    tap: Callable[..., Run],
    config: dict[str, Any],
    change: dict[str, Any],
    arguments: list[str],
) -> None:
    run = tap({**config, **change}, *arguments, catalog=only("leads"))
    assert run.failed()
    assert UNHANDLED not in run.stderr


def test_the_end_of_a_test_is_no_failure(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    assert "ERROR" not in tap(config, "--test").succeeded().stderr


def test_a_reason_is_logged_at_once(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    """Other streams may take hours until the last line names what failed."""
    sandbox.faults({"kind": "status", "stream": "leads", "status": 422})
    run = tap(config)
    reason = run.failed().partition("leads: ")[2]
    told = [line for line in run.stderr.splitlines() if reason in line]
    assert len(told) == 2
    assert "| ERROR    | tap-leadintent.leads " in told[0]
    after = run.stderr.partition(told[0])[2]
    assert "monitored_accounts: 3 records" in after


@each_reading_entry
def test_what_it_does_not_expect_is_not(
    tap: Callable[..., Run], config: dict[str, Any], arguments: list[str]
) -> None:
    catalog = only("leads")
    run = tap(config, *arguments, catalog=catalog, module="tests.support.exploding")
    assert run.code == 1
    assert "ZeroDivisionError" in run.stderr
    assert f"{UNHANDLED} occurred while syncing 'leads'" in run.stderr
