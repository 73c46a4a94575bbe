"""One stream that fails costs no other, and a run that cannot succeed ends soon."""

import logging
from collections import Counter
from typing import Any

import pytest
import requests
from singer_sdk.testing import TapTestRunner

from tap_leadintent.errors import StreamError
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import (
    API_KEY,
    STREAMS,
    Json,
    RunTap,
    each_reading_entry,
    final_error,
    ids_of,
    only,
    status,
)

FIRST, SECOND, *OTHERS = sorted(STREAMS)


def test_a_failed_stream_does_not_affect_the_others(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    config["max_retries"] = 1
    before = tap(config).succeeded()
    sandbox.advance(8)
    sandbox.faults(
        status(
            403,
            body=f"not for {API_KEY.encode().hex()}",
            stream="leads",
        ),
        status(
            500,
            body="out of order",
            stream="observations",
        ),
    )
    run = tap(config, state=before.state)
    line = run.failed()
    assert line.startswith(f"2 of {len(STREAMS)} streams failed: leads: deselect this ")
    assert "; observations: try later: the API, or a gateway in front" in line
    assert API_KEY.encode().hex() not in run.stderr
    first = before.state["bookmarks"]
    second = run.state["bookmarks"]
    for name in ("leads", "observations"):
        # What is due to be read again is not covered now.
        assert second[name]["coverage"][0] == first[name]["coverage"][0]
        assert not run.records(name)
    for name in ("signal_accounts", "monitored_leads"):
        assert second[name] != first[name]
    for name in ("signal_agents", "monitored_accounts", "custom_signals"):
        assert len(run.records(name)) == len(sandbox.records(name))
    sandbox.faults()
    after = tap(config, state=run.state).succeeded()
    records = before.records("leads") + after.records("leads")
    found = ids_of(records)
    assert found == ids_of(sandbox.records("leads"))


def test_a_broken_stream_fails_the_sdks_suite(sandbox: Sandbox, config: Json) -> None:
    sandbox.faults(status(403, stream="observations"))
    runner = TapTestRunner(TapLeadIntent, config={**config, "max_retries": 0})
    with pytest.raises(StreamError, match=r"\(HTTP 403"):
        runner.sync_all()


def test_a_bug_of_the_tap_shows_a_traceback_without_key_and_values(
    tap: RunTap,
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send = requests.Session.send

    def explode(
        session: requests.Session,
        request: Any,
        **options: Any,
    ) -> Any:
        if request.url.endswith("/signals/leads"):
            logging.getLogger("library").warning("sent %s", request.headers)
            private = "PRIVATEMARK"
            raise ZeroDivisionError(private)
        return send(session, request, **options)

    monkeypatch.setattr("requests.Session.send", explode)
    run = tap(config)
    assert run.code == 1
    assert "'Authorization': 'Bearer ***'" in run.stderr
    assert "leads: ZeroDivisionError, which is a bug of the tap; report " in run.stderr
    assert "in explode\n    raise ZeroDivisionError(private)" in run.stderr
    assert "PRIVATEMARK" not in run.stderr
    line = f"1 of {len(STREAMS)} streams failed: leads: ZeroDivisionError, which is a "
    assert final_error(run.stderr).startswith(line)
    assert len(run.records("signal_accounts")) == 3


@each_reading_entry
def test_two_streams_that_fail_alike_end_the_run(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    arguments: list[str],
) -> None:
    sandbox.faults(status(503))
    run = tap({**config, "max_retries": 2}, *arguments)
    line = run.failed()
    assert arguments or " 2 streams, 0 records, " in run.stderr
    assert line.startswith(f"2 of {len(STREAMS)} streams failed: {FIRST}")
    assert line.endswith(f"; {len(OTHERS)} streams not tried")
    sent = Counter(request["stream"] for request in sandbox.requests())
    assert sent == {FIRST: 3, SECOND: 1}


def test_receipts_are_not_counted_as_a_stream(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    sandbox.faults(status(503))
    run = tap(
        {
            **config,
            "max_retries": 0,
            "load_receipts": True,
        }
    )
    assert run.failed().startswith(f"2 of {len(STREAMS)} streams failed: {FIRST}")
    assert run.failed().endswith(f"; {len(OTHERS)} streams not tried")


def test_after_a_page_each_stream_is_tried_with_all_retries(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    """The second stream has one attempt for its first page, and more for its second."""
    later = OTHERS[:2]
    sandbox.faults(
        status(503, stream=FIRST),
        status(
            503,
            stream=SECOND,
            skip=1,
            times=2,
        ),
        status(401, stream=later[0]),
        status(401, stream=later[1]),
    )
    run = tap(
        {
            **config,
            "page_size": 2,
            "max_retries": 2,
        }
    )
    assert run.failed().startswith(f"3 of {len(STREAMS)} streams failed: {FIRST}: ")
    assert "not tried" not in run.failed()
    for stream in (SECOND, *OTHERS):
        assert len(run.records(stream)) == (0 if stream in later else 3)


def test_a_key_is_noted_in_the_state_only_after_it_got_a_page(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    """So after a mistyped key, the right one is no other."""
    catalog = only("observations")
    first = tap(config, catalog=catalog).succeeded()
    sandbox.advance(8)
    mistyped = {**config, "api_key": "a-mistyped-key"}
    second = tap(
        mistyped,
        catalog=catalog,
        state=first.state,
    )
    assert "HTTP 401" in second.failed()
    assert "api_key has changed" not in second.stderr
    third = tap(
        config,
        catalog=catalog,
        state=second.state or first.state,
    ).succeeded()
    assert "api_key has changed" not in third.stderr


def test_a_deeply_nested_record_is_written(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    sandbox.insert("custom_signals", '{"name": ' + '{"x":' * 490 + "1" + "}" * 491)
    written = tap(config).succeeded().records("custom_signals")
    assert any("x" in (row["additional_properties"] or {})["name"] for row in written)


def test_a_range_that_the_api_begins_to_ignore_ends_the_stream(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    # So that the second run reads one window of each range.
    config["lookback_days"] = 0
    catalog = only("leads", "signal_agents")
    before = tap(config, catalog=catalog).succeeded()
    sandbox.advance(8)
    sandbox.faults({"kind": "ignored_range"})
    run = tap(config, catalog=catalog, state=before.state)
    line = run.failed()
    assert line.startswith(
        "1 of 2 streams failed: leads: load the stream completely in each run, as the "
        "API ignores its time range: see Another replication method in docs/recipes.md"
    )
    assert ids_of(run.records("leads")) == ids_of(before.records("leads"))
    assert run.records("signal_agents")
