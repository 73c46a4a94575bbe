"""The tap as a whole, against the sandbox over real HTTP."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from singer_sdk.testing import TapTestRunner, get_tap_test_class

from tap_leadintent.tap import TapLeadIntent

from .helpers import (
    API_KEY,
    STREAMS,
    assert_keeps_secret,
    each_reading_entry,
    entries,
    exact_json,
    only,
    select,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox

    from .helpers import Run


_Suite = get_tap_test_class(
    TapLeadIntent,
    # The address is not yet known where tests are collected, and not needed there.
    config={"base_url": "https://api.example.com", "api_key": API_KEY},
)


class TestSingerSDK(_Suite):  # type: ignore[misc, valid-type] # made at run time
    """The SDK's own tests."""

    @pytest.fixture(scope="class")
    @classmethod
    def runner(cls, server: Sandbox) -> TapTestRunner:
        """Sync once for all tests of the class."""
        server.configure(api_key=API_KEY)
        config = {"base_url": server.url, "api_key": API_KEY}
        runner = TapTestRunner(TapLeadIntent, config=config)
        runner.sync_all()
        return runner


def kinds_of(run: Run) -> set[tuple[str, str]]:
    """Give the streams that records and schemas came from."""
    return {
        (message["type"], message["stream"])
        for message in run.messages
        if "stream" in message
    }


# What comes out


def test_keys_are_unique_and_never_null(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.configure(api_key=API_KEY, sizes=dict.fromkeys(STREAMS, 150))
    run = tap(config).succeeded()
    for message in run.messages:
        if message["type"] != "SCHEMA":
            continue
        stream, key = message["stream"], message["key_properties"]
        assert key
        keys = Counter(
            tuple(record[part] for part in key) for record in run.records(stream)
        )
        assert len(keys) == 150, stream
        assert max(keys.values()) == 1, stream
        assert all(part is not None for found in keys for part in found), stream


def test_every_stream_is_read(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    run = tap(config).succeeded()
    for stream in STREAMS:
        ids = sorted(record["id"] for record in run.records(stream))
        assert ids == sorted(record["id"] for record in sandbox.records(stream))


def test_numbers_and_texts_arrive_unchanged(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    text = (
        '{"id": "a", "score": {"value": 0.1000000000000000055511151231257827}, '
        '"big": 12345678901234567890123, "tiny": 1e-400, "text": "%s"}'
    ) % ("Łukasz 佐藤 🚀 \\u2028 " * 5000)
    lead = exact_json(text)
    sandbox.insert("leads", texts=[text])
    run = tap(config).succeeded()
    (record,) = (record for record in run.records("leads") if record["id"] == "a")
    assert record["score"] == lead["score"]
    unknown = {name: lead[name] for name in ("big", "tiny", "text")}
    assert record["additional_properties"] == unknown


def test_a_deselected_stream_is_not_asked_for(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    run = tap(config, catalog=only("custom_signals")).succeeded()
    assert kinds_of(run) == {("SCHEMA", "custom_signals"), ("RECORD", "custom_signals")}
    assert {request["stream"] for request in sandbox.requests()} == {"custom_signals"}


@pytest.mark.parametrize("column", ["qualification", "full_name"])
def test_a_deselected_column_is_nowhere(
    tap: Callable[..., Run], config: dict[str, Any], column: str
) -> None:
    catalog = only("leads")
    select(catalog, "leads", "properties", column, selected=False)
    run = tap(config, catalog=catalog).succeeded()
    records = run.records("leads")
    assert len(records) == 3
    assert column not in run.schema("leads")["properties"]
    for record in records:
        assert column not in record
        assert column not in (record["additional_properties"] or {})
        assert record["company"]


def test_additional_properties_can_be_deselected(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    catalog = only("observations")
    column = ("properties", "additional_properties")
    select(catalog, "observations", *column, selected=False)
    run = tap(config, catalog=catalog).succeeded()
    for record in run.records("observations"):
        assert record.keys() == {"record_key", "id", "observed_at"}
    assert "additional_properties" not in run.schema("observations")["properties"]


def test_a_column_that_the_catalog_adds_is_filled(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    catalog = only("custom_signals")
    columns = entries(catalog)["custom_signals"]["schema"]["properties"]
    columns["description"] = {"type": ["string", "null"]}
    records = tap(config, catalog=catalog).succeeded().records("custom_signals")
    filled = {record["id"]: record["description"] for record in records}
    assert filled == {
        record["id"]: record["description"]
        for record in sandbox.records("custom_signals")
    }
    assert all("description" not in r["additional_properties"] for r in records)


def test_a_column_whose_schema_holds_fractions(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    catalog = only("custom_signals")
    columns = entries(catalog)["custom_signals"]["schema"]["properties"]
    columns["price"] = {"type": ["number", "null"], "multipleOf": 0.01, "minimum": 0.5}
    found = {"0.57": Decimal("0.57"), "2": 2, "0.575": None, "0.49": None}
    texts = [f'{{"id": "{price}", "price": {price}}}' for price in found]
    sandbox.insert("custom_signals", texts=texts)
    run = tap(config, catalog=catalog).succeeded()
    prices = {record["id"]: record["price"] for record in run.records("custom_signals")}
    assert {price: prices[price] for price in found} == found
    column = run.schema("custom_signals")["properties"]["price"]
    assert column["multipleOf"] == Decimal("0.01")


def test_stream_maps(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    stream_map = {
        "full_name": None,
        "shouted": "title.upper() if title else None",
        "__alias__": "people",
        "__filter__": "id != 'left out'",
    }
    sandbox.insert("leads", {"id": "left out"}, {"id": "x", "title": "cto"})
    run = tap({**config, "stream_maps": {"leads": stream_map}}).succeeded()
    records = {record["id"]: record for record in run.records("people")}
    assert len(records) == 4
    assert "left out" not in records
    assert records["x"]["shouted"] == "CTO"
    assert all("full_name" not in record for record in records.values())
    assert "full_name" not in run.schema("people")["properties"]
    assert run.records("leads") == []


def test_flattening(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    flat = {"flattening_enabled": True, "flattening_max_depth": 1}
    run = tap({**config, **flat}).succeeded()
    assert {"signal__type", "score__value"} <= run.schema("leads")["properties"].keys()
    types = {record["id"]: record["signal__type"] for record in run.records("leads")}
    assert types == {
        record["id"]: record["signal"]["type"] for record in sandbox.records("leads")
    }


# What goes wrong


@each_reading_entry
def test_wrong_key(
    tap: Callable[..., Run], config: dict[str, Any], arguments: list[str]
) -> None:
    run = tap({**config, "api_key": "wrong-7c2e"}, *arguments)
    line = run.failed()
    assert "HTTP 401" in line
    assert "set api_key to a valid key" in line
    assert not [message for message in run.stdout.splitlines() if "RECORD" in message]


@each_reading_entry
def test_wrong_base_url(
    tap: Callable[..., Run], config: dict[str, Any], arguments: list[str]
) -> None:
    config["base_url"] += "/elsewhere"
    line = tap(config, *arguments).failed()
    assert "HTTP 404" in line
    assert "check base_url" in line


def test_no_server(tap: Callable[..., Run], config: dict[str, Any]) -> None:
    # Port 9 (discard) is none that a test machine serves.
    down = {"base_url": "http://127.0.0.1:9", "max_retries": 0}
    line = tap({**config, **down}).failed()
    assert any(stream in line for stream in STREAMS)
    assert "127.0.0.1" in line


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_is_not_followed(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], status: int
) -> None:
    location = f"{sandbox.url}/v1/monitor/custom-signals"
    sandbox.faults(
        {
            "kind": "redirect",
            "stream": "signal_agents",
            "location": location,
            "status": status,
        }
    )
    catalog = only("signal_agents")
    line = tap(config, catalog=catalog).failed()
    assert "signal_agents" in line
    assert f"HTTP {status}" in line
    assert "check base_url" in line
    assert {request["stream"] for request in sandbox.requests()} == {"signal_agents"}


@pytest.mark.parametrize("status", [400, 401])
def test_a_server_that_repeats_the_key(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], status: int
) -> None:
    sandbox.faults({"kind": "echo_key", "status": status})
    line = tap(config, catalog=only("leads")).failed()
    assert f"leads: HTTP {status}" in line
    assert "cannot serve Bearer ***" in line


def test_a_server_error_is_bounded(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults({"kind": "status", "status": 422, "body": "x\n" * 100_000})
    line = tap(config, catalog=only("leads")).failed()
    assert "HTTP 422" in line
    assert len(line) < 1000


@pytest.mark.parametrize("kind", ["html", "empty_body", "truncate", "error_in_200"])
def test_a_page_that_is_none_never_ends_quietly(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], kind: str
) -> None:
    sandbox.faults({"kind": kind, "stream": "leads"})
    catalog = only("leads")
    line = tap({**config, "max_retries": 0}, catalog=catalog).failed()
    assert "leads" in line


def test_a_record_without_its_key(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults({"kind": "missing_id", "stream": "leads"})
    line = tap(config, catalog=only("leads")).failed()
    assert "leads" in line
    assert "a record has no id" in line


@pytest.mark.parametrize("output", [API_KEY, f"Bearer {API_KEY}\n"])
def test_a_leaked_key_would_be_noticed(output: str) -> None:
    with pytest.raises(AssertionError):
        assert_keeps_secret(API_KEY, "clean", output)
