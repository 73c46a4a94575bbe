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
        yield from (
            {
                "id": 1,
                "home": {"city": "c", "zip": 1},
            },
            {"id": 2},
        )


def sync(streams: Sequence[Users]) -> None:
    for stream in streams:
        stream.sync()


class Other(SingerTap[Users]):
    """Another tap."""

    name = "tap-other"
    config_jsonschema = th.PropertiesList(
        th.Property(
            "token",
            th.StringType,
            required=True,
            secret=True,
            description="A key.",
        )
    ).to_dict()
    sync_streams = check_streams = staticmethod(sync)

    @override
    def discover_streams(self) -> list[Users]:
        return [Users(self)]


@pytest.mark.parametrize(
    ("settings", "rows"),
    [
        (
            {},
            [
                {
                    "id": 1,
                    "home": {"city": "c", "zip": 1},
                },
                {"id": 2},
            ],
        ),
        (
            {"stream_maps": {"users": {"home": None, "next": "id + 1"}}},
            [
                {"id": 1, "next": 2},
                {"id": 2, "next": 3},
            ],
        ),
        (
            {"flattening_enabled": True, "flattening_max_depth": 1},
            [
                {"id": 1, "home__city": "c"},
                {"id": 2},
            ],
        ),
    ],
    ids=["plain", "map", "flattening"],
)
def test_another_tap_syncs(
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    settings: Json,
    rows: list[Json],
) -> None:
    Other(config={"token": "another-secret", **settings}).sync_all()
    output = capsys.readouterr().out
    schema, first, second, state = map(json.loads, output.splitlines())
    assert schema["type"] == "SCHEMA"
    assert [first["record"], second["record"]] == rows
    assert state["type"] == "STATE"
    assert rows[0].keys() == schema["schema"]["properties"].keys()
    assert "users: it begins with ***" in caplog.messages


@pytest.mark.parametrize(
    "supported_by_the_sdk_only",
    ["partitions", "parent_stream_type", "is_sorted", "post_process"],
)
def test_a_stream_that_would_lose_something_is_refused(
    supported_by_the_sdk_only: str,
) -> None:
    tap = Other(config={"token": "another-secret"})
    stream = type(
        "More",
        (Users,),
        {supported_by_the_sdk_only: object()},
    )
    text = f"^More: {supported_by_the_sdk_only} would be ignored$"
    with pytest.raises(TypeError, match=text):
        stream(tap)


COMMAND = "meltano config set tap-other token '…', or TAP_OTHER_TOKEN with --config ENV"


def test_another_tap_has_variables_and_errors_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("TAP_LEADINTENT_TOKEN", "of-this-tap")
    monkeypatch.setenv("TAP_OTHER_STREAM_MAPS", '{"users": {"x": "fake.name()"}}')
    monkeypatch.setitem(sys.modules, "faker", None)
    result = enter("--config=ENV", tap=Other)
    assert isinstance(result.exception, SystemExit)
    token, maps = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert token.name == maps.name == "tap-other"
    assert token.getMessage() == (
        f"token: is not set; {COMMAND}, or a file with --config (A key)"
    )
    assert maps.getMessage() == (
        "stream_maps: `fake` needs another package: pip install 'tap-other[faker]'"
    )
