"""Fixtures with a stand-in for Snowflake, and with the plugins that load it."""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.environments import build
from tests.support.helpers import exact_json
from tests.support.pipelines import Warehouse, install, printed_by, serving
from tests.support.rows import instant

Row = dict[str, Any]

_HERE = Path(__file__).parent
_TARGET = "target-snowflake"


@dataclass(frozen=True)
class SnowflakeWarehouse(Warehouse):
    """A database of the stand-in for Snowflake."""

    port: str
    programs: Path
    credentials: Mapping[str, str]

    def settings(self, schema: str) -> dict[str, str]:
        """Return the environment variables for loading a schema."""
        # The target makes an address of the account; so this account is one already.
        account = f"127.0.0.1:{self.port}/TESTDB?protocol=http&account=fakesnow&x="
        return {
            "SNOWFLAKE_SQLALCHEMY_LEGACY_URL_PARAMS": "1",
            "TARGET_SNOWFLAKE_ACCOUNT": account,
            "TARGET_SNOWFLAKE_USER": "loader",
            "TARGET_SNOWFLAKE_DATABASE": "TESTDB",
            "TARGET_SNOWFLAKE_WAREHOUSE": "LOADING",
            "TARGET_SNOWFLAKE_ROLE": "LOADER",
            "TARGET_SNOWFLAKE_SCHEMA": schema,
            **self.credentials,
        }

    def ask(self, *statements: str) -> list[list[dict[str, Any]]]:
        """Return the rows of each statement, with column names in lower case."""
        program = _HERE / "query.py"
        answers = printed_by(
            self.programs,
            program,
            self.port,
            *statements,
        )
        for rows in answers:
            rows[:] = map(_in_lower_case, rows)
        return answers

    def types(
        self,
        schema: str,
        *tables: str,
    ) -> list[dict[str, str]]:
        """Return the type of each column of each table."""
        statements = [f"describe table {schema}.{name}" for name in tables]
        return list(map(_types_of, self.ask(*statements)))

    def rows(
        self,
        schema: str,
        *tables: str,
    ) -> list[list[dict[str, Any]]]:
        """Read tables; VARIANT as JSON, times as times."""
        types = self.types(schema, *tables)
        selected = self.ask(*map(partial(_select, schema), tables, types))
        return list(map(_read_rows, types, selected))


def _in_lower_case(row: Row) -> Row:
    return {name.lower(): value for name, value in row.items()}


def _types_of(columns: list[Row]) -> dict[str, str]:
    return {column["name"].lower(): column["type"] for column in columns}


def _read_rows(types: dict[str, str], rows: list[Row]) -> list[Row]:
    for row in rows:
        for name, value in row.items():
            row[name] = _read(types[name], value)
    return rows


def _select(
    schema: str,
    table: str,
    types: dict[str, str],
) -> str:
    columns = []
    for name, kind in types.items():
        if kind.startswith("TIMESTAMP"):
            # As text, since the stand-in sends 1970 for a time that is null.
            columns.append(f"{name}::VARCHAR as {name}")
        else:
            columns.append(name)
    return f"select {', '.join(columns)} from {schema}.{table}"


def _read(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "VARIANT":
        return exact_json(value)
    return instant(value) if kind.startswith("TIMESTAMP") else value


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SnowflakeWarehouse]:
    """Serve the stand-in, and install target-snowflake, for all tests."""
    folder = tmp_path_factory.mktemp("snowflake")
    programs = build(_HERE / "requirements.txt", folder / "environment")
    key = folder / "key.p8"
    # As docs/warehouses.md says.
    make = "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out"
    subprocess.run(  # noqa: S603
        [*make.split(), key],
        check=True,
        capture_output=True,
    )
    system = install(folder / "meltano", _TARGET)
    with serving(programs, _HERE / "server.py") as port:
        credentials = {"TARGET_SNOWFLAKE_PRIVATE_KEY_PATH": str(key)}
        yield SnowflakeWarehouse(
            system,
            _TARGET,
            port,
            programs,
            credentials,
        )
