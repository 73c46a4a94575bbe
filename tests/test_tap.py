"""The tap as a whole, against the sandbox."""

from decimal import Decimal
from itertools import chain

import pytest
import requests_mock
from singer_sdk.testing import TapTestRunner, get_tap_test_class

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import (
    API_KEY,
    STREAMS,
    VALID,
    Json,
    RunTap,
    entries,
    ids_of,
    only,
    where,
)
from tests.support.runs import SINCE

_Suite = get_tap_test_class(
    TapLeadIntent,
    # The address is not yet known where tests are collected, and not needed there.
    config={**VALID},
)


class TestSingerSDK(_Suite):  # type: ignore[misc, valid-type] # created at run time
    """The SDK's own tests."""

    @pytest.fixture(scope="class")
    @classmethod
    def runner(cls, server: Sandbox) -> TapTestRunner:
        """Sync once for all tests of the class."""
        server.configure(api_key=API_KEY)
        config = {
            **VALID,
            "base_url": server.url,
            "start_date": SINCE,
        }
        runner = TapTestRunner(TapLeadIntent, config=config)
        runner.sync_all()
        return runner


def test_every_record_of_every_stream_is_read_under_a_key_of_its_own(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    sandbox.configure(
        api_key=API_KEY,
        sizes=dict.fromkeys(STREAMS, 150),
    )
    run = tap(config).succeeded()
    schemas = run.of_type("SCHEMA")
    assert {schema["stream"] for schema in schemas} == {*STREAMS}
    for schema in schemas:
        stream = schema["stream"]
        key = schema["key_properties"]
        records = run.records(stream)
        keys_of_rows = [tuple(map(record.get, key)) for record in records]
        assert len({*keys_of_rows}) == len(keys_of_rows) == 150
        assert None not in chain(*keys_of_rows)
        ids = ids_of(records)
        assert ids == ids_of(sandbox.records(stream))


def test_each_stream_is_announced_once_before_its_first_row(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    """After another SCHEMA, targets of SDK 0.54.9 may store an older version last."""
    sandbox.configure(
        api_key=API_KEY,
        sizes=dict.fromkeys(STREAMS, 150),
    )
    run = tap({**config, "page_size": 10}).succeeded()
    announced: list[str] = []
    for message in run.messages:
        match message["type"]:
            case "SCHEMA":
                announced.append(message["stream"])
            case "RECORD":
                assert message["stream"] in announced
    assert sorted(announced) == sorted(STREAMS)


def test_a_column_that_the_catalog_adds_is_filled_where_its_schema_allows(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    catalog = only("custom_signals")
    columns = entries(catalog)["custom_signals"]["schema"]["properties"]
    columns["price"] = {
        "type": ["number", "null"],
        "multipleOf": 0.01,
        "minimum": 0.5,
    }
    found = {
        "0.57": Decimal("0.57"),
        "2": 2,
        "0.575": None,
        "0.49": None,
    }
    for price in found:
        text = f'{{"id": "{price}", "price": {price}}}'
        sandbox.insert("custom_signals", text)
    run = tap(config, catalog=catalog).succeeded()
    records = run.records("custom_signals")
    for price, value in found.items():
        (record,) = where(records, id=price)
        assert record["price"] == value
    column = run.schema("custom_signals")["properties"]["price"]
    assert column["multipleOf"] == Decimal("0.01")


def test_the_address_may_have_an_ipv6_host(requests_mock: requests_mock.Mocker) -> None:
    page = {
        "data": [],
        "cursor": {"has_more": False},
    }
    requests_mock.post("http://[::1]:8000/v1/monitor/custom-signals", json=page)
    config = {**VALID, "base_url": "http://[::1]:8000/"}
    TapLeadIntent(
        config=config,
        catalog=only("custom_signals"),
    ).sync_all()
    assert requests_mock.call_count == 1
