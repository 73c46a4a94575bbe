"""The way of a page, from its answer to its RECORDs, leads through few files."""

from __future__ import annotations

import sys
import threading
from email.utils import formatdate
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests_mock

import tap_leadintent
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY
from tests.support.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

PACKAGE = str(Path(tap_leadintent.__file__).parent)
CONFIG = {
    "base_url": "https://api.example.com",
    "api_key": API_KEY,
    # A second is one window.
    "start_date": "2026-01-01T00:00:00Z",
    "end_date": "2026-01-01T00:00:01Z",
    "concurrency": 1,
}
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
MOST = 23

Step = tuple[str, str, bool]
"""A file, a function, and whether the function is called or is left."""


class Walk:
    """The steps of each thread through the tap's files; the SDK's are passed over."""

    def __init__(self) -> None:
        self.steps: dict[str, list[Step]] = {}

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        if event not in {"call", "return"} or not self._is_ours(frame):
            return
        now = frame if event == "call" else frame.f_back
        if now is not None and self._is_ours(now):
            steps = self.steps.setdefault(threading.current_thread().name, [])
            file, function = now.f_code.co_filename, frame.f_code.co_name
            steps.append((file.removeprefix(PACKAGE), function, event == "call"))

    @staticmethod
    def _is_ours(frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(PACKAGE)

    def between(self, thread: str, first: str, via: str, last: str) -> list[Step]:
        """Give a thread's steps on the last way that leads through three functions."""
        steps = self.steps[thread]
        calls = [(at, name) for at, (_, name, is_call) in enumerate(steps) if is_call]
        middle = max(at for at, name in calls if name == via)
        start = max(at for at, name in calls if name == first and at < middle)
        end = min(at for at, name in calls if name == last and at > middle)
        return steps[start : end + 1]


@pytest.fixture
def walk() -> Iterator[Walk]:
    """Note each step from here on, of all threads."""
    walk, before = Walk(), sys.getprofile()
    threading.setprofile(walk.profile)
    sys.setprofile(walk.profile)
    yield walk
    sys.setprofile(before)
    threading.setprofile(None)


def page(number: int, *, has_more: bool) -> dict[str, Any]:
    record = {"id": f"{number}", "signal": {"observed_at": "2026-01-02T00:00:00Z"}}
    return {"data": [record], "cursor": {"has_more": has_more, "next": "next"}}


@pytest.mark.usefixtures("capsys")
def test_the_way_of_a_page_changes_the_file_no_more_often(
    request: pytest.FixtureRequest,
) -> None:
    tap = TapLeadIntent(config=CONFIG)
    for stream in tap.streams.values():
        stream.selected = stream.name == "leads"
    headers = {"Date": formatdate(usegmt=True)}
    pages = page(1, has_more=True), page(2, has_more=False)
    answers = [{"json": each, "headers": headers} for each in pages]
    with requests_mock.Mocker() as server:
        server.post(requests_mock.ANY, answers)
        walk: Walk = request.getfixturevalue("walk")
        tap.sync_all()
    ways = [
        walk.between("reader 1", "parse_http_date", "as_of", "of"),
        walk.between("coordinator", "take", "advance", "done"),
        walk.between("MainThread", "decode", "shape_page", "write_message"),
    ]
    _, _, described = DESIGN.partition("\n## The way of a page\n")
    described = described.partition("\n## ")[0]
    changes = 0
    for steps in ways:
        files = [file for file, _ in groupby(file for file, *_ in steps)]
        print(*files, sep="\n")  # noqa: T201 - shown when the test fails
        changes += len(files) - 1
        assert [file for file in files if f"`{file[1:]}`" not in described] == []
    assert changes <= MOST
