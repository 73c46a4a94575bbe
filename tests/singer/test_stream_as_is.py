"""Records past the SDK's passes over each, which must change nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from singer_sdk import Stream
from singer_sdk.metrics import Metric, Point

from tap_leadintent.singer.stream import SingerStream
from tests.support.model import DAY, Api, steady
from tests.support.model_runs import CONFIG, catalog, run
from tests.support.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


from tests.support.batching import batch_config, batched, deselecting


class Recorder(Store):
    """Keeps messages of any form."""

    def write_message(self, message: Any) -> None:
        content = json.loads(json.dumps(message.to_dict(), default=str))
        if content["type"] == "RECORD":
            extracted = datetime.fromisoformat(content["time_extracted"])
            assert extracted.tzinfo == UTC
            content["time_extracted"] = "some time"
        self.messages.append(content)


def counts(log: pytest.LogCaptureFixture) -> list[tuple[Metric, Any]]:
    """Give the metrics that count, in the order in which they were logged."""
    points = [
        argument
        for line in log.records
        for argument in line.args or ()
        if isinstance(argument, Point)
    ]
    assert any(point.metric == Metric.SYNC_DURATION for point in points)
    counted = {Metric.RECORD_COUNT, Metric.BATCH_COUNT}
    return [(point.metric, point.value) for point in points if point.metric in counted]


FULL = {"replication_method": "FULL_TABLE"}
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
CASES: dict[str, tuple[dict[str, Any], Callable[[], dict[str, Any]], bool]] = {
    "plain": ({}, catalog, True),
    "versions": (
        {"emit_activate_version_messages": True},
        lambda: catalog(**FULL),
        True,
    ),
    "map of another stream": (
        {"stream_maps": {"signal_agents": {"name": None}}},
        catalog,
        True,
    ),
    "flattening to no depth": (
        {"flattening_enabled": True, "flattening_max_depth": 0},
        catalog,
        True,
    ),
    "map": ({"stream_maps": {"leads": {"id": "id + '!'"}}}, catalog, False),
    "alias": ({"stream_maps": {"leads": {"__alias__": "people"}}}, catalog, False),
    "filter": (
        {"stream_maps": {"leads": {"__filter__": "id > 'lead-0010'"}}},
        catalog,
        False,
    ),
    "key": (
        {"stream_maps": {"leads": {"__key_properties__": ["full_name"]}}},
        catalog,
        False,
    ),
    "copy": (
        {"stream_maps": {"copies": {"__source__": "leads", "id": "id"}}},
        catalog,
        False,
    ),
    "removal": ({"stream_maps": {"leads": None}}, catalog, False),
    "nothing else": ({"stream_maps": {"__else__": None}}, catalog, False),
    "flattening": (FLAT, catalog, False),
    "deselected column": ({}, lambda: deselecting("title"), False),
    "deselected part": ({}, lambda: deselecting("signal", "observed_at"), False),
}


@pytest.mark.parametrize("in_batches", [False, True], ids=["records", "batches"])
@pytest.mark.parametrize(("config", "make", "past"), CASES.values(), ids=CASES)
def test_messages_are_the_same_past_the_sdks_passes_or_through_them(  # noqa: PLR0913
    *,
    config: dict[str, Any],
    make: Callable[[], dict[str, Any]],
    past: bool,
    in_batches: bool,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    batches = {"batch_config": batch_config(tmp_path)} if in_batches else {}
    settings = {**CONFIG, **config, **batches}

    def outcome() -> tuple[Any, ...]:
        caplog.clear()
        store = Recorder()
        run(Api(now=2 * DAY, leads=steady(35)), store, settings, catalog=make())
        others = [m for m in store.messages if m["type"] != "BATCH"]
        return others, batched(store), counts(caplog)

    sdks = mock.patch.object(
        Stream,
        "_generate_record_messages",
        autospec=True,
        side_effect=Stream._generate_record_messages,  # noqa: SLF001
    )
    with sdks as through:
        found = outcome()
    assert through.call_count == (0 if past else 35)
    with mock.patch.object(SingerStream, "_emits_as_is", new=False), sdks as through:
        assert found == outcome()
    assert through.call_count == 35
    assert (Metric.RECORD_COUNT, 35) in found[-1]
