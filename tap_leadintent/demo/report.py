"""What the database says: rows, changes, and the best leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from psycopg import sql

from tap_leadintent.demo.tables import table

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "tap_leadintent"
"""Where target-postgres makes the tables: Meltano names it after the tap."""


class Changes(NamedTuple):
    """How many leads differ from those remembered."""

    new: int
    with_new_signal: int


def row_counts(connection: Connection) -> dict[str, int]:
    """Count the rows of each table.

    Args:
        connection: To the database.

    Returns:
        The counts by the tables' names.
    """
    tables = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", [SCHEMA]
    ).fetchall()
    counts = {}
    for (name,) in tables:
        count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(SCHEMA, name))
        counts[name] = next(connection.execute(count))[0]
    return counts


def remember_leads(connection: Connection) -> None:
    """Note the leads as they are now, for as long as the connection lives.

    Args:
        connection: To the database.
    """
    connection.execute("SELECT set_config('search_path', %s, false)", [SCHEMA])
    connection.execute(
        """
        CREATE TEMP TABLE former_leads AS
        SELECT id, signal_observed_at, signal ->> 'name' AS signal FROM leads
        """
    )


def changes(connection: Connection) -> Changes:
    """Compare the leads with those remembered.

    Args:
        connection: The one that remembers.

    Returns:
        The counts.
    """
    return Changes(
        *next(
            connection.execute(
                """
                SELECT
                    count(*) FILTER (WHERE former.id IS NULL),
                    count(*) FILTER (
                        WHERE leads.signal_observed_at > former.signal_observed_at
                    )
                FROM leads LEFT JOIN former_leads AS former USING (id)
                """
            )
        )
    )


def counts_table(before: dict[str, int], after: dict[str, int]) -> str:
    """Show the rows of each table after two runs.

    Args:
        before: Counts after the first.
        after: Counts after the second.

    Returns:
        The table.
    """
    return table(
        ("table", "first run", "second run", "more"),
        [
            (name, before.get(name, 0), count, count - before.get(name, 0))
            for name, count in after.items()
        ],
    )


def moved_leads(connection: Connection, limit: int) -> str:
    """Show leads with a new signal.

    Args:
        connection: The one that remembers.
        limit: How many.

    Returns:
        The table, latest signal first.
    """
    rows = connection.execute(
        """
        SELECT full_name, company ->> 'name', former.signal, leads.signal ->> 'name'
        FROM leads JOIN former_leads AS former USING (id)
        WHERE leads.signal_observed_at > former.signal_observed_at
        ORDER BY leads.signal_observed_at DESC, id LIMIT %s
        """,
        [limit],
    ).fetchall()
    return table(("lead", "company", "signal before", "signal now"), rows)


def best_leads(connection: Connection, limit: int, *, only_new: bool = False) -> str:
    """Show the leads with the highest scores.

    Args:
        connection: The one that remembers.
        limit: How many.
        only_new: Whether those remembered are left out.

    Returns:
        The table.
    """
    rows = connection.execute(
        """
        SELECT
            score ->> 'value',
            full_name,
            title,
            company ->> 'name',
            concat_ws(': ', leads.signal ->> 'name', leads.signal ->> 'summary')
        FROM leads LEFT JOIN former_leads AS former USING (id)
        WHERE former.id IS NULL OR NOT %s
        ORDER BY
            (score ->> 'value')::numeric DESC NULLS LAST,
            leads.signal_observed_at DESC NULLS LAST,
            id
        LIMIT %s
        """,
        [only_new, limit],
    ).fetchall()
    return table(("score", "lead", "title", "company", "signal"), rows)
