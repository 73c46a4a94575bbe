"""Files of Arrow and Parquet, whose columns have the types of a SCHEMA message."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from importlib import import_module
from itertools import islice
from typing import IO, Any

import msgspec
from singer_sdk.contrib.msgspec import encoder

from tap_leadintent.singer.errors import RecordError

_ROWS = 100
"""The rows that are converted at once. Each takes about 8 KB of memory."""


def write_table(
    lines: Iterator[bytes],
    file: IO[bytes],
    schema: Mapping[str, Any],
    parquet_codec: str | None = None,
) -> None:
    """Write rows into a file, with the same types in all files of a stream.

    The values are those of a RECORD message, in the types of the columns. Columns that
    are not scalars are JSON text (`arrow.json`), because few databases load nested
    Arrow types.

    Args:
        lines: What RECORDs would hold, a line of JSON for each row.
        file: Where to write.
        schema: The JSON schema of the rows.
        parquet_codec: The compression of a file of Parquet, or "none". Without it, the
            file is one of Arrow.

    Raises:
        RecordError: A value is not of the type of its column.
    """
    arrow = import_module("pyarrow")
    types: dict[str, tuple[Any, Callable[[Any], Any]]] = {
        "string": (arrow.string(), _as_text),
        "date-time": (arrow.timestamp("us", "UTC"), datetime.fromisoformat),
        "integer": (arrow.int64(), _as_integer),
        "number": (arrow.float64(), _as_number),
        "boolean": (arrow.bool_(), lambda value: value),
    }
    other = (arrow.json_(), encoder.encode)
    columns = {n: types.get(kind_of(c), other) for n, c in schema["properties"].items()}

    def array(name: str, values: list[Any]) -> Any:  # noqa: ANN401 - of pyarrow
        kind, convert = columns[name]
        try:
            values = [None if value is None else convert(value) for value in values]
            return arrow.array(values, kind)
        except Exception as error:  # noqa: BLE001 - its errors have no common class
            # The message of a library may quote a record, which may be private.
            raise RecordError(
                f"a value of {name} is no {kind} ({type(error).__name__}); correct "
                "its stream map, or set batch_config.encoding.format to jsonl"
            ) from None

    table_schema = arrow.schema([(name, kind) for name, (kind, _) in columns.items()])
    batches = (
        arrow.record_batch(
            [array(name, [row.get(name) for row in rows]) for name in columns],
            schema=table_schema,
        )
        for rows in _chunks(lines)
    )
    if parquet_codec:
        table = arrow.Table.from_batches(batches, table_schema)
        module = import_module("pyarrow.parquet")
        module.write_table(table, file, compression=parquet_codec)
    else:
        with arrow.ipc.new_file(file, table_schema) as writer:
            for batch in batches:
                writer.write_batch(batch)


def _chunks(lines: Iterator[bytes]) -> Iterator[list[dict[str, Any]]]:
    while rows := [msgspec.json.decode(line) for line in islice(lines, _ROWS)]:
        yield rows


def _as_text(value: object) -> str | bytes:
    # The SDK declares what it does not know about a map's expression as text.
    return value if isinstance(value, str) else encoder.encode(value)


def _as_integer(value: float) -> int:
    # pyarrow would cut the fraction off.
    if value != int(value):
        raise ValueError
    return int(value)


def _as_number(value: float) -> float:
    # `float` would take a text, too.
    return float(value + 0)


def kind_of(column: Mapping[str, Any]) -> str:
    """Return what a column may hold besides null.

    Args:
        column: The JSON schema of the column.

    Returns:
        The type, "date-time" for one of times, and "" if there are several.
    """
    kinds = set[str]()
    for branch in (column, *column.get("anyOf", [])):
        types = branch.get("type", [])
        types = {types} if isinstance(types, str) else {*types}
        # This is how the SDK's targets decide what becomes a timestamp column.
        if "string" in types and branch.get("format") == "date-time":
            return "date-time"
        kinds |= types - {"null"}
    return kinds.pop() if len(kinds) == 1 else ""
