"""Messages on standard output: complete lines, in order, in blocks."""

import io
import json
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from singer_sdk.singerlib import RecordMessage, SchemaMessage, StateMessage

from tap_leadintent.singer.errors import OutputError
from tap_leadintent.singer.writer import Writer
from tests.support.helpers import exact_json, where

BLOCK = 256 * 1024


class Target(io.RawIOBase):
    """Takes so many bytes at once, and so many in all."""

    def __init__(self, most: int = BLOCK) -> None:
        super().__init__()
        self.taken = bytearray()
        self.parts: list[bytes] = []
        self.most = most
        self.room = sys.maxsize

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if not self.room:
            raise OSError(28, "No space")
        part = bytes(data)[: min(self.most, self.room)]
        self.room -= len(part)
        self.taken += part
        self.parts.append(part)
        return len(part)

    @property
    def messages(self) -> list[dict[str, Any]]:
        assert not self.taken or self.taken.endswith(b"\n")
        return list(map(exact_json, self.taken.decode().splitlines()))

    @property
    def types(self) -> list[str]:
        return [message["type"] for message in self.messages]


def set_stdout(monkeypatch: pytest.MonkeyPatch) -> Target:
    """Put a target where standard output goes, as PYTHONUNBUFFERED has it."""
    target = Target()
    text = io.TextIOWrapper(target, write_through=True)  # type: ignore[type-var]
    monkeypatch.setattr("sys.stdout", text)
    return target


def record(number: int, **fields: object) -> RecordMessage:
    return RecordMessage(
        "leads",
        {"id": number, **fields},
        time_extracted=datetime.now(UTC),
    )


def ids(target: Target) -> list[int]:
    records = where(target.messages, type="RECORD")
    return [message["record"]["id"] for message in records]


def test_records_wait_for_any_other_message_and_a_state_is_a_write_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = set_stdout(monkeypatch)
    writer = Writer()
    for number in range(3):
        writer.write_message(record(number))
    assert not target.taken
    schema = SchemaMessage(
        "leads",
        {"properties": {}},
        ["id"],
    )
    for message in (
        schema,
        record(3),
        StateMessage({}),
        StateMessage({}),
    ):
        writer.write_message(message)
    writes = []
    for part in target.parts:
        types = [json.loads(line)["type"] for line in part.splitlines()]
        writes.append(types)
    assert writes == [
        ["RECORD", "RECORD", "RECORD", "SCHEMA"],
        ["RECORD"],
        ["STATE"],
        ["STATE"],
    ]


def test_records_wait_for_no_more_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    target = set_stdout(monkeypatch)
    writer = Writer()
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
def test_a_target_that_reads_slowly_gets_all_parts(
    monkeypatch: pytest.MonkeyPatch,
    *,
    buffered: bool,
) -> None:
    target = Target(most=7)
    writer = Writer()
    output: Any = io.BufferedWriter(target, BLOCK) if buffered else target
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(output))
    for number in range(3):
        writer.write_message(record(number, long="x" * 50))
    writer.write_message(StateMessage({}))
    assert target.types == ["RECORD"] * 3 + ["STATE"]
    assert writer.taken == len(target.taken)


def test_a_full_pipe_that_does_not_block_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = set_stdout(monkeypatch)
    waits = list[object]()
    write = target.write
    is_full = iter([True])
    monkeypatch.setattr("select.select", lambda *waited: waits.append(waited))
    monkeypatch.setattr(
        target,
        "write",
        lambda data: None if next(is_full, False) else write(data),
    )
    Writer().write_message(record(1, text="x" * BLOCK))
    assert ids(target) == [1]
    assert waits == [([], [target], [])]


def test_a_text_stdout_gets_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    long = record(
        1,
        name="Łukasz 佐藤",
        text="x" * BLOCK,
    )
    short = record(2)
    target = set_stdout(monkeypatch)
    text = io.StringIO()
    for output in (sys.stdout, text):
        monkeypatch.setattr("sys.stdout", output)
        writer = Writer()
        for message in (
            long,
            short,
            StateMessage({}),
            long,
            StateMessage({}),
        ):
            writer.write_message(message)
    assert target.types == [
        "RECORD",
        "RECORD",
        "STATE",
        "RECORD",
        "STATE",
    ]
    assert text.getvalue() == target.taken.decode()


def test_after_an_error_the_rest_of_the_block_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = set_stdout(monkeypatch)
    writer = Writer()
    target.most = 7
    target.room = 12
    line = "^standard output cannot be written: No space$"
    with pytest.raises(OutputError, match=line):
        writer.write_message(StateMessage({"a": 1}))
    target.room = BLOCK
    writer.write_message(StateMessage({"b": 2}))
    first, second = target.messages
    assert first["value"] == {"a": 1}
    assert second["value"] == {"b": 2}
