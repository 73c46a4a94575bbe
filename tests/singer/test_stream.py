"""STATE and ACTIVATE_VERSION messages, in the order that they are sent."""

import json
import signal
from itertools import pairwise
from typing import Any

import pytest

from tap_leadintent.progress import StreamStats
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.singer.errors import OutputError, RunError
from tap_leadintent.singer.writer import Writer
from tests.support.helpers import (
    STREAMS,
    Json,
    Run,
    RunTap,
    deselecting,
    ids_of,
    leads_with,
    only,
    read_of,
    select,
    status,
    where,
)
from tests.support.model import DAY, EPOCH, Api, second, steady
from tests.support.model_runs import CONFIG, asked, run
from tests.support.store import Store, written


def test_without_a_bookmark_no_empty_state_is_written() -> None:
    store = Store()
    run(
        Api(now=DAY),
        store,
        CONFIG,
        selected=("custom_signals",),
    )
    assert store.messages[0]["type"] == "SCHEMA"
    for message in store.of_type("STATE"):
        assert message["value"]


def test_a_state_follows_every_three_hundred_windows_that_hold_nothing() -> None:
    api = Api(now=10 * DAY)
    store = Store()
    config = {**CONFIG, "window_days": 0.01}
    run(api, store, config)
    asked_for = asked(api)
    starts = [start for name, start, _ in asked_for if name == "date_found"]
    assert 1002 <= len(starts) <= 1020
    assert min(starts) >= second(-1), "empty pages need no look at another time"
    states = [state["value"]["bookmarks"]["leads"] for state in store.of_type("STATE")]
    assert 7 <= len({*map(json.dumps, states)}) <= len(states) <= 11


def leads_in(coverage: list[Json], api: Api) -> set[str]:
    """Return the leads that a coverage says have been read."""
    ids: set[str] = set()
    for entry in coverage:
        if "range" in entry:
            ids |= leads_between(entry["from"], entry["to"], api)
    return ids


def leads_between(start: str, end: str, api: Api) -> set[str]:
    ids = set()
    for lead in api.leads:
        if start <= second(lead.found_at) < end:
            ids.add(lead.id)
    return ids


def test_no_state_is_ahead_of_its_records() -> None:
    api = Api(
        now=9 * DAY,
        leads=steady(1500, 300),
    )
    store = Store()
    config = {**CONFIG, "window_days": 0.1}
    run(api, store, config)
    seen = set[str]()
    covered = []
    for message in store.messages:
        if message["type"] == "RECORD":
            seen.add(message["record"]["id"])
        elif message["type"] == "STATE":
            covered.append(message["value"]["bookmarks"]["leads"]["coverage"])
            assert leads_in(covered[-1], api) <= seen
    # Without it, older coverage would survive a full refresh that is interrupted.
    assert covered[0] == []
    assert len(covered) > 4
    _, *intervals = covered[-1]
    assert intervals
    for entry in intervals:
        assert entry["to"] == second(9 * DAY)
    assert seen == {lead.id for lead in api.leads}


def test_a_stream_that_fails_writes_its_state() -> None:
    api = Api(
        now=9 * DAY,
        leads=steady(200),
        forbidden_at=15,
    )
    store = Store()
    config = {
        **CONFIG,
        "window_days": 1,
        "concurrency": 1,
    }
    with pytest.raises(RunError, match="401"):
        run(api, store, config)
    read = ids_of(store.records())
    assert 0 < len(read) < 200
    coverage = store.state["bookmarks"]["leads"]["coverage"]
    assert coverage
    assert leads_in(coverage, api) <= read


MAPS = {
    "leads": {"full_name": None},
    "copies": {"__source__": "custom_signals"},
    "monitored_accounts": {"__filter__": "False"},
    "signal_agents": None,
}
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
WAYS: dict[str, Json] = {
    "plain": {},
    "maps": {"stream_maps": MAPS},
    "flat": FLAT,
    "maps and flat": {"stream_maps": MAPS, **FLAT},
    "excluded": {"exclude_fields": {"leads": ["full_name"]}},
    "receipts": {"load_receipts": True},
    "flat receipts": {"load_receipts": True, **FLAT},
    "versions": {"emit_activate_version_messages": True},
}


WAYS_OF_ALL: list[tuple[str, tuple[str, ...]]] = [(way, ()) for way in WAYS]
WAYS_OF_SOME: list[tuple[str, tuple[str, ...]]] = [
    ("plain", ("leads", "company")),
    ("maps and flat", ("leads", "company")),
    ("maps and flat", ("signal_agents",)),
    ("receipts", ("signal_agents",)),
]
"""Ways, and the streams that are deselected."""


def assert_state_is_last(run: Run) -> None:
    """Assert that a STATE is the last message; no other repeats the one before it."""
    states = run.of_type("STATE")
    assert run.messages[-1] == states[-1]
    for one, other in pairwise(states[:-1]):
        assert one != other
    assert run.messages[-1] != run.messages[-2]


@pytest.mark.parametrize(
    ("way", "deselected"),
    WAYS_OF_ALL + WAYS_OF_SOME,
)
def test_the_last_message_of_each_run_is_a_state(
    tap: RunTap,
    config: Json,
    way: str,
    deselected: tuple[str, ...],
) -> None:
    config |= WAYS[way]
    catalog = json.loads(tap(config, "--discover").stdout)
    if deselected:
        select(catalog, *deselected, selected=False)
    first = tap(config, catalog=catalog).succeeded()
    second = tap(
        config,
        catalog=catalog,
        state=first.state,
    ).succeeded()
    third = tap(
        config,
        catalog=catalog,
        state=second.state,
    ).succeeded()
    for each in (first, second, third):
        assert_state_is_last(each)
    assert second.records("custom_signals")
    assert read_of(third.state) == read_of(second.state)


def plans_of(bookmark: Json) -> list[Json]:
    """Return the entry of a bookmark that says as of when its stream was read."""
    entries: list[Json] = bookmark.get("coverage", [])
    return entries[:1]


@pytest.mark.parametrize(
    "failing",
    [
        ("custom_signals",),
        ("signal_agents",),
        STREAMS,
    ],
)
@pytest.mark.parametrize("way", [{}, FLAT, {"load_receipts": True}])
def test_the_last_message_of_a_run_with_failures_is_a_state(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    way: Json,
    failing: tuple[str, ...],
) -> None:
    config |= {**way, "max_retries": 0}
    first = tap(config).succeeded()
    faults = [status(403, stream=name) for name in failing]
    sandbox.faults(*faults)
    second = tap(config, state=first.state)
    assert "streams failed: " in second.failed()
    assert_state_is_last(second)
    for name, bookmark in first.state["bookmarks"].items():
        # What is due to be read again is not covered now.
        assert plans_of(second.state["bookmarks"][name]) == plans_of(bookmark)


def test_the_last_message_of_an_interrupted_run_is_a_state(
    tap: RunTap,
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = tap(config).succeeded()

    def interrupt(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(StreamStats, "log_progress", interrupt)
    second = tap(config, state=first.state)
    assert second.code == 128 + signal.SIGTERM
    assert second.records("custom_signals")
    assert_state_is_last(second)


def test_a_signal_that_also_ends_the_target_is_why_the_run_ends(
    tap: RunTap,
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config["page_size"] = 1
    catalog = only("custom_signals")
    first = tap(config, catalog=catalog).succeeded()

    def refuse(_: Writer) -> None:
        raise OutputError("the target stopped reading")

    def interrupt(*_: object) -> None:
        monkeypatch.setattr(Writer, "flush", refuse)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(StreamStats, "log_progress", interrupt)
    second = tap(
        config,
        catalog=catalog,
        state=first.state,
    )
    assert second.code == 128 + signal.SIGTERM
    assert len(second.records("custom_signals")) == 1


def test_the_last_message_to_another_writer_is_a_state() -> None:
    api = Api(
        now=DAY,
        leads=steady(3),
    )
    store = Store()
    for _ in range(2):
        run(api, store, CONFIG, selected=("custom_signals",))
        assert store.of_type("RECORD")
        assert store.messages[-1]["type"] == "STATE"


@pytest.mark.parametrize("wildcard", [True, False])
def test_receipts_of_earlier_runs_are_never_deleted(
    tap: RunTap,
    config: Json,
    *,
    wildcard: bool,
) -> None:
    config |= {"load_receipts": True, "emit_activate_version_messages": True}
    catalog = json.loads(tap(config, "--discover").stdout)
    for entry in catalog["streams"]:
        if wildcard:
            entry["replication_method"] = "FULL_TABLE"
        entry["metadata"][-1]["metadata"]["selected"] = True
    run = tap(config, catalog=catalog).succeeded()
    versions = run.of_type("ACTIVATE_VERSION")
    assert where(versions, stream="custom_signals")
    assert not where(versions, stream="loads")
    assert run.records("loads")


def test_an_empty_list_does_not_delete_the_rows_of_a_full_table(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Store()
    config = {**CONFIG, "emit_activate_version_messages": True}
    run(
        Api(now=DAY),
        store,
        config,
        selected=("custom_signals",),
    )
    assert not store.of_type("ACTIVATE_VERSION")
    assert "custom_signals: Delete rows in the warehouse if " in caplog.text


class Recorder(Store):
    """Keeps messages of any form."""

    def write_message(self, message: Any) -> None:
        self.messages.append(written(message))


SETTINGS: dict[str, Json] = {
    "plain": {},
    "whole": {"emit_activate_version_messages": True},
    "alias": {"stream_maps": {"leads": {"id": "id + '!'", "__alias__": "people"}}},
    "filter": {"stream_maps": {"leads": {"__filter__": "id > 'lead-0010'"}}},
    "copy": {"stream_maps": {"copies": {"__source__": "leads", "id": "id"}}},
    "removal": {"stream_maps": {"leads": None}},
    "flattening": {"flattening_enabled": True, "flattening_max_depth": 1},
    "deselected part": {},
}
CATALOGS = {
    "whole": leads_with(replication_method="FULL_TABLE"),
    "deselected part": deselecting("signal", "observed_at"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_a_row_is_the_same_as_the_sdk_makes_it(
    case: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Records that nothing changes go past the SDK's passes over each."""

    def messages() -> list[dict[str, Any]]:
        api = Api(
            now=2 * DAY,
            leads=steady(35),
        )
        store = Recorder()
        config = {
            **CONFIG,
            "concurrency": 1,
            **SETTINGS[case],
        }
        run(
            api,
            store,
            config,
            catalog=CATALOGS.get(case),
        )
        for message in store.of_type("RECORD"):
            assert message.pop("time_extracted") > second(-EPOCH)
        return store.messages

    ours = messages()
    monkeypatch.setattr("tap_leadintent.streams.base.SingerStream._emits_as_is", False)
    assert ours == messages()


@pytest.mark.parametrize(
    ("maps", "streams"),
    [
        (
            {
                "custom_signals": {"__alias__": "conditions"},
                "copy": {"__source__": "custom_signals"},
            },
            ["conditions", "copy"],
        ),
        ({"custom_signals": None}, []),
    ],
    ids=["alias and copy", "removal"],
)
def test_each_table_of_a_full_table_gets_its_version_after_its_rows(
    maps: Json,
    streams: list[str],
) -> None:
    store = Store()
    config = {
        **CONFIG,
        "stream_maps": maps,
        "emit_activate_version_messages": True,
    }
    run(
        Api(
            now=DAY,
            leads=steady(3),
        ),
        store,
        config,
        selected=("custom_signals",),
    )
    versions = store.of_type("ACTIVATE_VERSION")
    assert [message["stream"] for message in versions] == streams
    records = store.of_type("RECORD")
    assert len(records) == 3 * len(streams)
    kinds = [message["type"] for message in store.messages]
    if streams:
        first_version = kinds.index("ACTIVATE_VERSION")
        assert "RECORD" not in kinds[first_version:]


def test_a_short_list_deletes_nothing_at_first(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    """Below half of the last list, ACTIVATE_VERSION is held back once."""
    config["emit_activate_version_messages"] = True
    catalog = only("signal_agents")
    state = None
    for records, is_sent in [
        (12, True),
        (6, True),
        (2, False),
        (2, True),
        (9, True),
    ]:
        sizes = {"signal_agents": records}
        sandbox.configure(
            api_key=config["api_key"],
            sizes=sizes,
        )
        done = tap(
            config,
            catalog=catalog,
            state=state,
        ).succeeded()
        assert len(done.records("signal_agents")) == records
        assert bool(done.of_type("ACTIVATE_VERSION")) == is_sent
        assert ("Check whether records are missing: " in done.stderr) != is_sent
        state = done.state
        assert state["bookmarks"]["signal_agents"]["list"] == records
