"""Files of batches: complete, typed by SCHEMA, and as they are announced."""

import json
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from singer_sdk.helpers._batch import SDKBatchMessage, StorageTarget

from tap_leadintent.singer.batch import Batches, Row
from tap_leadintent.singer.errors import RecordError
from tests.support.batching import FORMATS, batch_config, path_of, read_table, rows_of

TIME = {"type": ["string", "null"], "format": "date-time"}
COLUMNS: dict[str, tuple[dict[str, Any], str, list[Any]]] = {
    "id": ({"type": "string"}, "string", ["a", "Zoë 🚀 \\"]),
    "score": ({"type": ["number", "null"]}, "double", [0.1, 2**60]),
    "n": ({"type": ["null", "integer"]}, "int64", [2**63 - 1, None]),
    "is_new": ({"type": ["boolean", "null"]}, "bool", [True, None]),
    "at": (TIME, "timestamp[us, tz=UTC]", ["2026-01-01T00:00:00.123456Z", None]),
    "moved_at": (
        {"anyOf": [TIME, {"type": "null"}]},
        "timestamp[us, tz=UTC]",
        ["0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"],
    ),
    "object": ({"type": ["object", "null"]}, "extension<arrow.json>", [{"é": []}, {}]),
    "list": ({"type": ["array"]}, "extension<arrow.json>", [[1, None], None]),
    "several": (
        {"type": ["string", "integer"]},
        "extension<arrow.json>",
        ["1", 12345678901234567890],
    ),
    "anything": ({}, "extension<arrow.json>", [None, None]),
}
"""The schema of each column, its type in Arrow, and its values."""

SCHEMA = {"properties": {name: schema for name, (schema, _, _) in COLUMNS.items()}}
ROWS: list[Row] = [
    {name: values[n] for name, (_, _, values) in COLUMNS.items()} for n in (0, 1)
]


def written(config: Row, *rows: tuple[str, Row]) -> list[dict[str, Any]]:
    """Write rows, each with its stream, in one batch; return its messages."""
    sent: list[SDKBatchMessage] = []
    schemas = dict.fromkeys((stream for stream, _ in rows), SCHEMA)
    batches = Batches("tap", config, schemas, sent.append)
    try:
        for stream, row in rows:
            batches.add(stream, row)
        batches.write()
        batches.write()
    finally:
        batches.close()
    return [msgspec.to_builtins(message.to_dict()) for message in sent]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("compression", ["gzip", "none", None])
def test_each_stream_has_a_file_which_is_what_its_message_says(
    tmp_path: Path, kind: str, compression: str | None
) -> None:
    given = [*(("leads", row) for row in ROWS * 70), ("people", ROWS[1])]
    config = batch_config(tmp_path, kind=kind)
    config["encoding"]["compression"] = compression
    sent = written(config, *given)
    assert [(message["stream"], rows_of(message)) for message in sent] == [
        ("leads", ROWS * 70),
        ("people", ROWS[1:]),
    ]
    ending = ".json" if compression == "none" else ".json.gz"
    assert all(
        str(path_of(each)).endswith(ending if kind == "jsonl" else f".{kind}")
        for each in sent
    )
    expected = {"jsonl": compression or "gzip", "arrow": None, "parquet": compression}
    encodings = [message["encoding"] for message in sent]
    assert {each.get("compression") for each in encodings} == {expected[kind]}


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_the_types_are_those_of_the_schema_also_without_values(
    tmp_path: Path, kind: str
) -> None:
    row = dict.fromkeys(COLUMNS)
    config = batch_config(tmp_path, kind=kind)
    for table in map(read_table, written(config, ("a", row), ("b", ROWS[0]))):
        assert {field.name: str(field.type) for field in table.schema} == {
            name: kind for name, (_, kind, _) in COLUMNS.items()
        }


def test_a_map_may_put_anything_into_a_column_of_text(tmp_path: Path) -> None:
    rows = [("a", {"id": value}) for value in (5, {"x": [1.5]}, True, None)]
    (message,) = written(batch_config(tmp_path, kind="arrow"), *rows)
    assert [r["id"] for r in rows_of(message)] == ["5", '{"x":[1.5]}', "true", None]


PRIVATE = "PRIVATEMARK"


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("n", PRIVATE), ("n", 2**63), ("n", 3.5), ("score", PRIVATE)),
        *(("is_new", 5), ("at", PRIVATE)),
    ],
)
def test_a_value_of_another_type_names_its_column_only(
    tmp_path: Path, kind: str, column: str, value: object
) -> None:
    line = rf"^a value of {column} is no .* \(\w+\); correct its stream map, or set "
    with pytest.raises(RecordError, match=line) as refusal:
        written(batch_config(tmp_path, kind=kind), ("leads", {column: value}))
    assert PRIVATE not in str(refusal.value)


@pytest.mark.parametrize("error", [OSError, TypeError, KeyError])
def test_any_error_of_a_batch_file_names_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """The message of a library may quote a record."""

    def refuse(*_: object) -> None:
        raise error(PRIVATE)

    monkeypatch.setattr("shutil.copyfileobj", refuse)
    place = re.escape(tmp_path.as_uri())
    line = rf"^check access to batch_.*: batches .* to {place} \({error.__name__}\)$"
    with pytest.raises(RecordError, match=line):
        written(batch_config(tmp_path), ("leads", {"id": "a"}))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("folder", ["a b", "ü", "run:1", "not%20decoded", "h#a"])
@pytest.mark.parametrize("prefix", ["", "in/", "of/rows-"])
def test_a_file_is_where_its_message_says(
    tmp_path: Path, kind: str, folder: str, prefix: str
) -> None:
    config = batch_config(tmp_path, kind=kind)
    config["storage"] = {"root": str(tmp_path / folder), "prefix": prefix}
    (message,) = written(config, ("leads", ROWS[0]))
    assert rows_of(message) == [ROWS[0]]
    assert str(path_of(message)).startswith(f"{tmp_path}/{folder}/{prefix}tap--leads-")
    # This is how the SDK's targets open it.
    head, tail = StorageTarget.split_url(message["manifest"][0])
    with StorageTarget.from_url(head).open(tail, "rb") as file:
        assert file.read() == path_of(message).read_bytes()


def test_without_a_folder_files_are_in_one_of_the_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    config = {"encoding": {"format": "jsonl", "compression": "none"}}
    (message,) = written(config, ("leads", ROWS[0]))
    assert path_of(message).parent == folder / f"tap-{os.getuid()}"
    assert [json.loads(path_of(message).read_text("utf-8"))] == [ROWS[0]]
