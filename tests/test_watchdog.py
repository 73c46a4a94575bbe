"""The watchdog: it ends the process where a run comes to no end by itself."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, NoReturn

import pytest

from tap_leadintent import watchdog

if TYPE_CHECKING:
    from collections.abc import Iterator


class Waits:
    """The waits of a watchdog after a signal, and what happens during each."""

    def __init__(self, *happens: str) -> None:
        self.left = list(happens)

    def select(self, *_: object) -> tuple[list[int], list[int], list[int]]:
        match self.left.pop(0):
            case "a write":
                watchdog.note_progress()
            case "a signal":
                return [0], [], []
        return [], [], []


@pytest.fixture
def receiver() -> Iterator[int]:
    """What a signal has been written to."""
    receiver, sender = os.pipe()
    os.write(sender, bytes([signal.SIGTERM]))
    yield receiver
    os.close(receiver)
    os.close(sender)


@pytest.mark.parametrize(
    "happens",
    [
        ["nothing"],
        ["a signal"],
        ["a write", "nothing"],
        ["a write", "a write", "a write", "nothing"],
        ["a write", "a signal"],
    ],
    ids=", ".join,
)
def test_it_waits_while_the_target_reads(
    receiver: int, monkeypatch: pytest.MonkeyPatch, happens: list[str]
) -> None:
    def leave(code: int) -> NoReturn:
        raise SystemExit(code)

    waits = Waits(*happens)
    monkeypatch.setattr("tap_leadintent.watchdog.select", waits)
    monkeypatch.setattr("os._exit", leave)
    with pytest.raises(SystemExit, match="143"):
        watchdog._watch(receiver)  # noqa: SLF001 - it runs in a thread otherwise
    assert not waits.left
