"""Files of Arrow and Parquet, whose columns have the types of a SCHEMA message."""

from collections.abc import Callable, Mapping
from datetime import datetime
from importlib import import_module
from typing import IO, Any

import msgspec
from singer_sdk.contrib.msgspec import encoder

from tap_leadintent.singer.errors import RecordError


class ArrowWriter:
    """Writes rows into a file of Arrow, with the same schema in all files of a stream.

    The values are those of a RECORD message, in the types of the columns. Columns that
    are not scalars are JSON text (`arrow.json`), because few databases load nested
    Arrow types.
    """

    def __init__(self, file: IO[bytes], schema: Mapping[str, Any]) -> None:
        """Begin the file.

        Args:
            file: Where to write.
            schema: The JSON schema of the rows.
        """
        arrow = self._arrow = import_module("pyarrow")
        types: dict[str, tuple[Any, Callable[[Any], Any] | None]] = {
            "string": (arrow.string(), _as_text),
            "date-time": (arrow.timestamp("us", "UTC"), datetime.fromisoformat),
            "integer": (arrow.int64(), _as_integer),
            "number": (arrow.float64(), _as_number),
            "boolean": (arrow.bool_(), None),
        }
        other = (arrow.json_(), encoder.encode)
        columns = {
            n: types.get(_kind(c), other) for n, c in schema["properties"].items()
        }
        self._conversions = {name: convert for name, (_, convert) in columns.items()}
        self._schema = arrow.schema(
            [(name, kind) for name, (kind, _) in columns.items()]
        )
        self._writer = arrow.ipc.new_file(file, self._schema)

    def append(self, rows: list[dict[str, Any]]) -> None:
        """Append rows.

        Args:
            rows: What RECORDs would hold.

        Raises:
            RecordError: A value is not of the type of its column.
        """
        # A stream map may return what JSON has no type for.
        rows = msgspec.json.decode(encoder.encode(rows))
        arrays = [
            self._array(name, [row.get(name) for row in rows])
            for name in self._conversions
        ]
        self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()

    def _array(self, column: str, values: list[Any]) -> Any:  # noqa: ANN401 - of pyarrow
        kind, convert = self._schema.field(column).type, self._conversions[column]
        try:
            if convert:
                values = [None if value is None else convert(value) for value in values]
            return self._arrow.array(values, kind)
        except Exception as error:  # noqa: BLE001 - its errors have no common class
            # The message of a library may quote a record, which may be private.
            raise RecordError(
                f"a value of {column} is no {kind} ({type(error).__name__}); correct "
                "its stream map, or set batch_config.encoding.format to jsonl"
            ) from None


def convert_to_parquet(file: IO[bytes], parquet: IO[bytes], compression: str) -> None:
    """Write the rows of a file of Arrow as Parquet.

    Args:
        file: A file that `ArrowWriter` has written.
        parquet: Where to write.
        compression: A codec of Parquet, or "none".
    """
    rows = import_module("pyarrow").ipc.open_file(file).read_all()
    module = import_module("pyarrow.parquet")
    module.write_table(rows, parquet, compression=compression)


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


def _kind(column: Mapping[str, Any]) -> str:
    """Return what a column may hold besides null, "" if that is several things."""
    kinds = set[str]()
    for branch in (column, *column.get("anyOf", [])):
        types = branch.get("type", [])
        types = {types} if isinstance(types, str) else {*types}
        # This is how the SDK's targets decide what becomes a timestamp column.
        if "string" in types and branch.get("format") == "date-time":
            return "date-time"
        kinds |= types - {"null"}
    return kinds.pop() if len(kinds) == 1 else ""
