"""Reads what loaders wrote with other engines, and compares every value.

    uv run --no-project --with duckdb --with polars --with pyarrow \
        python tools/engines.py leads.parquet leads.duckdb polars

The arguments are a file that `target-s3` wrote, a database that `target-duckdb` loaded,
and the engines, each of which must be installed: polars, pandas, datafusion, chdb
(ClickHouse) or pyspark. DuckDB writes its table `leads` to a file of Parquet for them,
and says what both files hold.
"""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Rows = list[dict[str, Any]]

_COPY = "COPY (FROM {}.tap_leadintent.leads) TO '{}' (FORMAT parquet)"


def with_polars(path: str) -> Rows:
    """Read a file with Polars."""
    return list(import_module("polars").read_parquet(path).to_dicts())


def with_pandas(path: str) -> Rows:
    """Read a file with pandas; its own types would make floats of large integers."""
    pandas = import_module("pandas")
    rows = pandas.read_parquet(path, dtype_backend="numpy_nullable").to_dict("records")
    return [
        {name: None if pandas.isna(value) else value for name, value in row.items()}
        for row in rows
    ]


def with_datafusion(path: str) -> Rows:
    """Read a file with DataFusion."""
    context = import_module("datafusion").SessionContext()
    return list(context.read_parquet(path).to_pylist())


def with_chdb(path: str) -> Rows:
    """Read a file with ClickHouse, and columns of JSON as text."""
    query = (
        f"SELECT * FROM file('{path}', Parquet) "  # noqa: S608 - a path of our own
        "SETTINGS input_format_parquet_enable_json_parsing = 0, "
        "output_format_json_quote_64bit_integers = 0"
    )
    text = str(import_module("chdb").query(query, "JSONEachRow"))
    return [json.loads(line) for line in text.splitlines() if line]


def with_pyspark(path: str) -> Rows:
    """Read a file with Spark; its times are in the time zone of the session."""
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[1]")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    rows = [row.asDict() for row in session.read.parquet(path).collect()]
    session.stop()
    return rows


ENGINES: dict[str, Callable[[str], Rows]] = {
    "polars": with_polars,
    "pandas": with_pandas,
    "datafusion": with_datafusion,
    "chdb": with_chdb,
    "pyspark": with_pyspark,
}


def plain(value: Any) -> Any:
    """Return a value so that those of all engines can be compared."""
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return value
    if isinstance(value, datetime):
        zone = value.tzinfo or UTC
        return value.replace(tzinfo=zone).astimezone(UTC).isoformat()
    return value


def by_id(rows: Rows) -> dict[str, dict[str, Any]]:
    """Return plain rows by id."""
    return {
        row["id"]: {name: plain(value) for name, value in row.items()} for row in rows
    }


def main(parquet: str, database: str, *engines: str) -> int:
    """Compare what each engine reads with what DuckDB reads; return the exit code."""
    duckdb = import_module("duckdb")
    differences = 0
    with TemporaryDirectory() as folder:
        exported = str(Path(folder, "leads.parquet"))
        connection = duckdb.connect()
        connection.execute(f"ATTACH '{database}' AS source (READ_ONLY)")
        connection.execute(_COPY.format("source", exported))
        for engine in engines:
            for name, path in (("target-s3", parquet), ("target-duckdb", exported)):
                cursor = connection.execute("FROM read_parquet(?)", [path])
                columns = [column[0] for column in cursor.description]
                rows = [
                    dict(zip(columns, row, strict=True)) for row in cursor.fetchall()
                ]
                expected = by_id(rows)
                found = by_id(ENGINES[engine](path))
                wrong = [
                    (key, column)
                    for key, row in expected.items()
                    for column, value in row.items()
                    if key not in found or found[key].get(column) != value
                ]
                differences += len(wrong)
                count = len(expected) * len(columns)
                print(f"{engine} {version(engine)}, {name}: {count} values,", end=" ")
                print(f"{len(wrong)} different", *wrong[:3])
    return int(differences > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
