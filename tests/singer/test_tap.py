"""The base serves another tap, which knows nothing of this one."""

import json
import logging
import sys
from collections.abc import Iterable, Sequence
from typing import ClassVar

import pytest
from singer_sdk import typing as th
from typing_extensions import override

from tap_leadintent.singer.stream import SingerStream
from tap_leadintent.singer.tap import SingerTap
from tests.support.helpers import Json, enter


class Users(SingerStream):
    """Two users."""

    name = "users"
    schema: ClassVar[Json] = th.PropertiesList(
        th.Property("id", th.IntegerType),
        th.Property("home", th.ObjectType(th.Property("city", th.StringType))),
    ).to_dict()
    primary_keys = ("id",)

    @override
    def get_records(self, context: object) -> Iterable[Json]:
        self.logger.warning("it begins with %s", self.config["token"])
        yield from ({"id": 1, "home": {"city": "c", "zip": 1}}, {"id": 2})


def sync(streams: Sequence[Users]) -> None:
    for stream in streams:
        stream.sync()


class Other(SingerTap[Users]):
    """Another tap."""

    name = "tap-other"
    config_jsonschema = th.PropertiesList(
        th.Property("token", th.StringType, required=True, secret=True)
    ).to_dict()
    sync_streams = check_streams = staticmethod(sync)

    @override
    def discover_streams(self) -> list[Users]:
        return [Users(self)]


def test_another_tap_syncs(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    Other(config={"token": "another-secret"}).sync_all()
    messages = map(json.loads, capsys.readouterr().out.splitlines())
    assert [each["type"][0] for each in messages] == [*"SRRS"]
    assert "users: it begins with ***" in caplog.messages


@pytest.mark.parametrize(
    ("settings", "rows"),
    [
        (
            {"stream_maps": {"users": {"home": None, "next": "id + 1"}}},
            [{"id": 1, "next": 2}, {"id": 2, "next": 3}],
        ),
        (
            {"flattening_enabled": True, "flattening_max_depth": 1},
            [{"id": 1, "home__city": "c"}, {"id": 2}],
        ),
    ],
    ids=["map", "flattening"],
)
def test_another_tap_maps_and_flattens(
    capsys: pytest.CaptureFixture[str], settings: Json, rows: list[Json]
) -> None:
    Other(config={"token": "another-secret", **settings}).sync_all()
    schema, *messages = map(json.loads, capsys.readouterr().out.splitlines())
    records = [each["record"] for each in messages if each["type"] == "RECORD"]
    assert records == rows
    assert records[0].keys() == schema["schema"]["properties"].keys()


COMMAND = "meltano config set tap-other token '…'"


def test_another_tap_has_variables_and_errors_of_its_own(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TAP_LEADINTENT_TOKEN", "of-this-tap")
    monkeypatch.setenv("TAP_OTHER_STREAM_MAPS", '{"users": {"x": "fake.name()"}}')
    monkeypatch.setitem(sys.modules, "faker", None)
    result = enter("--config=ENV", tap=Other)
    assert isinstance(result.exception, SystemExit)
    found = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert [(each.name, each.getMessage()) for each in found] == [
        ("tap-other", f"token: is not set; {COMMAND}, or a file with --config"),
        (
            "tap-other",
            "stream_maps: `fake` needs another package: pip install 'tap-other[faker]'",
        ),
    ]
