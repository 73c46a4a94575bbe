"""Messages on standard output: complete lines, in order, in blocks."""

import io
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from threading import Thread
from typing import Any

import pytest
from singer_sdk.singerlib import RecordMessage, SchemaMessage, StateMessage

from tap_leadintent.errors import OutputError
from tap_leadintent.singer.writer import Writer
from tests.support.helpers import TIMEOUT

BLOCK = 256 * 1024


class Target(io.RawIOBase):
    """Takes so many bytes at once."""

    def __init__(self, most: int = BLOCK) -> None:
        super().__init__()
        self.taken = bytearray()
        self.parts: list[bytes] = []
        self.most = most

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        part = bytes(data)[: self.most]
        self.taken += part
        self.parts.append(part)
        return len(part)

    @property
    def messages(self) -> list[dict[str, Any]]:
        assert not self.taken or self.taken.endswith(b"\n")
        lines = self.taken.decode().splitlines()
        return [json.loads(line, parse_float=Decimal) for line in lines]


@pytest.fixture
def stdout(monkeypatch: pytest.MonkeyPatch) -> Callable[[Target], Target]:
    """Put a target where standard output goes, as PYTHONUNBUFFERED has it."""

    def put(target: Target) -> Target:
        text = io.TextIOWrapper(target, write_through=True)  # type: ignore[type-var]
        monkeypatch.setattr("sys.stdout", text)
        return target

    return put


def record(number: int, **fields: object) -> RecordMessage:
    return RecordMessage(
        "leads", {"id": number, **fields}, time_extracted=datetime.now(UTC)
    )


def ids(target: Target) -> list[int]:
    return [m["record"]["id"] for m in target.messages if m["type"] == "RECORD"]


def test_records_wait_for_any_other_message_which_does_not(
    stdout: Callable[[Target], Target],
) -> None:
    target, writer = stdout(Target()), Writer()
    for number in range(3):
        writer.write_message(record(number))
    assert not target.taken
    writer.write_message(SchemaMessage("leads", {"properties": {}}, ["id"]))
    assert ids(target) == [0, 1, 2]
    assert target.messages[-1]["type"] == "SCHEMA"


def test_a_state_is_a_write_of_its_own(stdout: Callable[[Target], Target]) -> None:
    target, writer = stdout(Target()), Writer()
    for number in range(3):
        writer.write_message(record(number))
        writer.write_message(StateMessage({"bookmarks": {"leads": {"n": number}}}))
    assert [json.loads(part)["type"] for part in target.parts] == [
        "RECORD",
        "STATE",
    ] * 3


def test_records_wait_for_no_more_than_a_block(
    stdout: Callable[[Target], Target],
) -> None:
    target, writer = stdout(Target()), Writer()
    written = 0
    for number in range(3000):
        message = record(number, text="x" * (number % 300))
        writer.write_message(message)
        written += len(writer.format_message(message))
        assert written - len(target.taken) < BLOCK
    assert target.taken
    writer.flush()
    assert ids(target) == list(range(3000))


@pytest.mark.parametrize("buffered", [False, True])
def test_a_target_that_takes_a_part_gets_the_remaining_parts(
    monkeypatch: pytest.MonkeyPatch, *, buffered: bool
) -> None:
    target, writer = Target(most=7), Writer()
    output: Any = io.BufferedWriter(target, BLOCK) if buffered else target
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(output))
    for number in range(3):
        writer.write_message(record(number, long="x" * 50))
    writer.write_message(StateMessage({}))
    assert ids(target) == [0, 1, 2]
    assert target.messages[-1]["type"] == "STATE"
    assert writer.taken == len(target.taken)


def test_a_pipe_that_does_not_block_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    with os.fdopen(receiver, "rb") as pipe, os.fdopen(sender, "w") as text:
        monkeypatch.setattr("sys.stdout", text)
        writing = Thread(
            target=Writer().write_message, args=[record(1, text="x" * BLOCK)]
        )
        writing.start()
        line = pipe.readline()
        writing.join(TIMEOUT)
        monkeypatch.undo()
    assert json.loads(line)["record"]["id"] == 1


def test_a_text_stdout_gets_the_same_lines(
    monkeypatch: pytest.MonkeyPatch, stdout: Callable[[Target], Target]
) -> None:
    name = {"name": "Łukasz 佐藤", "text": "x" * BLOCK}
    messages = [
        record(1, **name),
        record(2),
        StateMessage({}),
        record(3),
        StateMessage({}),
    ]
    target, text = stdout(Target()), io.StringIO()
    for output in (sys.stdout, text):
        monkeypatch.setattr("sys.stdout", output)
        writer = Writer()
        for message in messages:
            writer.write_message(message)
    assert [m["type"][0] for m in target.messages] == [*"RRSRS"]
    assert text.getvalue() == target.taken.decode()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space"), "standard output cannot be written: No space"),
        (BrokenPipeError(), "the target stopped reading; its own log says why"),
    ],
)
def test_an_output_that_cannot_be_written_is_an_error(
    stdout: Callable[[Target], Target],
    monkeypatch: pytest.MonkeyPatch,
    error: OSError,
    message: str,
) -> None:
    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr(stdout(Target()), "write", fail)
    with pytest.raises(OutputError, match=f"^{message}$"):
        Writer().write_message(StateMessage({}))
