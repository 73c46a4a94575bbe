"""Prints what a run has changed in the database."""

from psycopg import Connection, sql

SCHEMA = "demo"
"""The schema of the demo's tables, so that they do not mix with the user's data."""

_REMEMBERED = """
    CREATE TEMP TABLE former AS
    SELECT id, signal_observed_at AS time, signal ->> 'name' AS signal FROM demo.leads
"""
_CHANGED = """
    SELECT former.id IS NULL, concat_ws(', ', full_name, company ->> 'name') || ': '
        || concat_ws(' -> ', former.signal, leads.signal ->> 'name')
    FROM demo.leads LEFT JOIN former USING (id)
    WHERE former.id IS NULL OR signal_observed_at > time
    ORDER BY (score ->> 'value')::numeric DESC NULLS LAST, id
"""
_DAYS = """
    SELECT to_char(signal_observed_at, 'YYYY-MM-DD') AS day,
        count(*) FILTER (WHERE signal_observed_at = time), count(*)
    FROM demo.leads LEFT JOIN former USING (id)
    WHERE signal_observed_at IS NOT NULL GROUP BY day ORDER BY day DESC LIMIT 12
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
    new = [text for is_new, text in changed if is_new]
    moved = [text for is_new, text in changed if not is_new]
    print(f"\n{len(new)} new leads; with the highest scores:", *new[:3], sep="\n  ")
    print(f"{len(moved)} leads with a new signal:", *moved[:3], sep="\n  ")
    print("\nLeads by day of their signal; + is new:")
    for day, same, count in reversed(connection.execute(_DAYS).fetchall()):
        print(f"  {day}  {'=' * same}{'+' * (count - same)}")
