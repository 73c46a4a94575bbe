"""Prints what a run has changed in the database."""

from collections.abc import Sequence
from unicodedata import east_asian_width

from psycopg import Connection, sql

SCHEMA = "demo"
"""The schema of the demo's tables, so that they do not mix with the user's data."""

_REMEMBERED = """
    CREATE TEMP TABLE former AS
    SELECT id, signal_observed_at AS time, signal ->> 'name' AS signal FROM demo.leads
"""
_CHANGED = """
    SELECT former.id IS NULL, coalesce(full_name, ''), coalesce(company ->> 'name', ''),
        concat_ws(' -> ', former.signal, leads.signal ->> 'name')
    FROM demo.leads LEFT JOIN former USING (id)
    WHERE former.id IS NULL OR signal_observed_at > time
    ORDER BY (score ->> 'value')::numeric DESC NULLS LAST, id
"""


def row_counts(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1"
    counts = {}
    for (name,) in connection.execute(tables, [SCHEMA]).fetchall():
        count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(SCHEMA, name))
        counts[name] = next(connection.execute(count))[0]
    return counts


def remember_leads(connection: Connection) -> None:
    """Keep a copy of the leads until the connection is closed."""
    connection.execute(_REMEMBERED)


def show_changes(connection: Connection, before: dict[str, int]) -> None:
    """Print what has changed since the leads were remembered.

    Args:
        connection: The connection that has the copy.
        before: The numbers of rows at that time.
    """
    print(f"\n{'rows of table':20}{'first run':>12}{'second run':>12}{'more':>8}")
    for name, now in row_counts(connection).items():
        print(f"{name:20}{before[name]:12,}{now:12,}{now - before[name]:8,}")
    changed = connection.execute(_CHANGED).fetchall()
    new: list[list[str]] = []
    moved: list[list[str]] = []
    for is_new, *row in changed:
        if is_new:
            new.append(row)
        else:
            moved.append(row)
    print(f"\n{len(new)} new leads; with the highest scores:")
    _print_rows(new[:3])
    print(f"{len(moved)} leads with a new signal:")
    _print_rows(moved[:3])


def _print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of name, company and signal in columns of equal width."""
    for name, company, signal in rows:
        print(f"  {_pad(name, 25)} {_pad(company, 25)} {signal}")


def _pad(text: str, width: int) -> str:
    return text + " " * (width - columns_of(text))


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    # Chinese, Japanese and Korean characters take two columns each.
    return sum(2 if east_asian_width(each) in "FW" else 1 for each in text)
