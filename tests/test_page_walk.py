"""The way of a page, from its response to its RECORDs, leads through few files."""

import sys
import threading
from collections import defaultdict
from email.utils import formatdate
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import requests_mock

import tap_leadintent
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID
from tests.support.pages import ROOT, section

PACKAGE = str(Path(tap_leadintent.__file__).parent)
# A second is one window.
PERIOD = {"start_date": "2026-01-01T00:00:00Z", "end_date": "2026-01-01T00:00:01Z"}
DESCRIBED = section(ROOT / "docs" / "design.md", "## The way of a page")
WAYS = {
    "reader": ("parse_http_date", "of", "take"),
    "MainThread": ("decode", "shape", "write_message"),
}
"""For each thread a function where its part begins, one on the way, and the last."""

MOST = 44


def page(number: int, *, has_more: bool) -> dict[str, Any]:
    record = {"id": f"{number}", "signal": {"observed_at": "2026-01-02T00:00:00Z"}}
    return {"data": [record], "cursor": {"has_more": has_more, "next": "next"}}


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)


@pytest.mark.usefixtures("capsys")
def test_the_format_of_pages_adds_no_files() -> None:
    tap = TapLeadIntent(config={**VALID, **PERIOD, "concurrency": 1})
    for stream in tap.streams.values():
        stream.selected = stream.name == "leads"
    steps: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)

    def note(frame: FrameType, event: str, _: object) -> None:
        """Note in which file a thread is now, and which function it calls there."""
        if event not in {"call", "return"} or not is_ours(frame):
            return
        now = frame if event == "call" else frame.f_back
        if now is not None and is_ours(now):
            file = now.f_code.co_filename.removeprefix(f"{PACKAGE}/")
            called = frame.f_code.co_name if event == "call" else ""
            steps[threading.current_thread().name].append((file, called))

    headers = {"Date": formatdate(usegmt=True)}
    pages = page(1, has_more=True), page(2, has_more=False)
    before = sys.getprofile()
    with requests_mock.Mocker() as server:
        server.post(
            requests_mock.ANY, [{"json": each, "headers": headers} for each in pages]
        )
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            tap.sync_all()
        finally:
            sys.setprofile(before)
            threading.setprofile(None)

    changes = 0
    for thread, (first, via, last) in WAYS.items():
        names = [name for _, name in steps[thread]]
        # The last way that leads through all three.
        middle = len(names) - 1 - names[::-1].index(via)
        start = middle - names[middle::-1].index(first)
        way = steps[thread][start : names.index(last, middle) + 1]
        files = [file for file, _ in groupby(file for file, _ in way)]
        print(*files, sep="\n")  # noqa: T201 - shown when the test fails
        changes += len(files) - 1
        assert [file for file in files if f"`{file}`" not in DESCRIBED] == []
    assert changes <= MOST
