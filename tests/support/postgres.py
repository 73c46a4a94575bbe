"""Reads tables of PostgreSQL."""

from datetime import datetime

from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from tap_leadintent.demo.postgres import Postgres
from tests.support.helpers import Json, exact_json
from tests.support.rows import instant

Rows = dict[str, Json]
"""The rows of a table by their id."""

_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"


def rows_of(
    postgres: Postgres,
    schema: str,
    table: str,
) -> list[Json]:
    """Return the rows of a table, with exact numbers, and times in UTC."""
    query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, table))
    with postgres.connect() as connection:
        set_json_loads(exact_json, connection)
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(query).fetchall()
    for row in rows:
        for name, value in row.items():
            if isinstance(value, datetime):
                row[name] = instant(value)
    return rows


def without_metadata(row: Json) -> Json:
    """Return a row without the target's columns, and without `window_end`."""
    return {
        name: value
        for name, value in row.items()
        if not name.startswith("_sdc_") and name != "window_end"
    }


def rows_by_id(
    postgres: Postgres,
    schema: str,
    table: str,
) -> Rows:
    """Return the rows of a table by id, and assert that each id occurs once.

    The columns that the target adds are left out.
    """
    rows = rows_of(postgres, schema, table)
    found = {row["id"]: without_metadata(row) for row in rows}
    assert len(found) == len(rows)
    return found


def tables_of(postgres: Postgres, schema: str) -> dict[str, Rows]:
    """Return the rows of all tables of a schema; see `rows_by_id`."""
    with postgres.connect() as connection:
        found = connection.execute(_TABLES, [schema]).fetchall()
    names = [name for (name,) in found]
    return {name: rows_by_id(postgres, schema, name) for name in names}
