"""What needs a package that is not there is an error before the first request."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.config.extras import missing_packages
from tests.support.helpers import VALID, each_entry, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

PARQUET = {"encoding": {"format": "parquet"}, "storage": {"root": "file:///tmp/x"}}


def batches(root: str) -> dict[str, Any]:
    return {"encoding": {"format": "jsonl"}, "storage": {"root": root}}


def needs(extra: str) -> str:
    return f"needs another package: pip install 'tap-leadintent[{extra}]'"


# Each needs a package that is hidden, and gives the one line that follows.
NEEDS: list[tuple[str, dict[str, Any], str]] = [
    (
        "pyarrow",
        {"batch_config": PARQUET},
        f"batch_config.encoding.format: parquet {needs('parquet')}",
    ),
    (
        "s3fs",
        {"batch_config": batches("s3://bucket/x")},
        f"batch_config.storage.root: s3:// {needs('s3')}",
    ),
    (
        "faker",
        {"stream_maps": {"leads": {"full_name": "fake.name() if full_name else ''"}}},
        f"stream_maps: `fake` {needs('faker')}",
    ),
]


@each_entry
@pytest.mark.parametrize(("package", "change", "line"), NEEDS)
def test_a_package_that_is_not_there_is_one_line_and_no_request(  # noqa: PLR0913, PLR0917
    refused: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    change: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert refused(change, *arguments) == [line]


@pytest.mark.parametrize(("package", "change", "line"), NEEDS)
def test_a_package_that_is_there_is_enough(
    package: str, change: dict[str, Any], line: str
) -> None:
    pytest.importorskip(package, reason="an extra that not every environment has")
    assert line
    assert not [*missing_packages(change)]


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"batch_config": {}},
        {"batch_config": batches("file:///tmp/x")},
        {"batch_config": batches("/tmp/x")},  # noqa: S108 - nothing is written there
        {"batch_config": batches("folder")},
        {"stream_maps": {"leads": None, "__else__": None}},
        {"stream_maps": {"leads": {"fake": "id", "x": "faked.y", "z": None}}},
    ],
    ids=str,
)
def test_what_needs_no_package(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, Any]
) -> None:
    for package in ("pyarrow", "s3fs", "faker"):
        monkeypatch.setitem(sys.modules, package, None)
    assert not [*missing_packages(config)]


@pytest.mark.parametrize(
    ("root", "told"),
    [
        ("foo://x", "there is no storage foo://; begin with file:// or s3://"),
        ("gs://x", "Please install gcsfs to access Google Storage"),
    ],
)
def test_a_storage_that_is_not_offered(
    cli: Callable[..., Result], root: str, told: str
) -> None:
    (line,) = refusal(cli({**VALID, "batch_config": batches(root)}))
    assert line == f"batch_config.storage.root: {told}"
