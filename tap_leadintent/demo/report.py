"""What the database says: rows, changes, the best leads, and how they spread."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import sql
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psycopg import Connection
    from rich.console import RenderableType

SCHEMA = "demo"
"""Where target-postgres makes the tables, beside those of the user's own data."""

_BAR_WIDTH = 24


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


def counts_table(before: dict[str, int], after: dict[str, int]) -> Table:
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


def moved_leads(connection: Connection, limit: int) -> Table:
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
    header = ("lead", "company", "signal before", "signal now")
    return table(header, rows, (1, 1, 1, 1))


def best_new_leads(connection: Connection, limit: int) -> Table:
    """Show the leads with the highest scores that are not remembered.

    Args:
        connection: The one that remembers.
        limit: How many.

    Returns:
        The table.
    """
    rows = connection.execute(
        """
        SELECT
            (score ->> 'value')::integer,
            full_name,
            title,
            company ->> 'name',
            concat_ws(': ', leads.signal ->> 'name', leads.signal ->> 'summary')
        FROM leads LEFT JOIN former_leads AS former USING (id)
        WHERE former.id IS NULL
        ORDER BY 1 DESC NULLS LAST, leads.signal_observed_at DESC NULLS LAST, id
        LIMIT %s
        """,
        [limit],
    ).fetchall()
    header = ("score", "lead", "title", "company", "signal")
    return table(header, rows, (None, 2, 2, 2, 3))


def leads_by_day(connection: Connection, days: int) -> Table:
    """Show how many leads had their latest signal on each of the last days.

    Args:
        connection: The one that remembers.
        days: How many.

    Returns:
        A histogram.
    """
    rows = connection.execute(
        """
        SELECT to_char(signal_observed_at, 'Mon DD'), count(*)
        FROM leads WHERE signal_observed_at IS NOT NULL
        GROUP BY 1, date_trunc('day', signal_observed_at)
        ORDER BY date_trunc('day', signal_observed_at) DESC LIMIT %s
        """,
        [days],
    ).fetchall()
    return histogram(rows[::-1])


def score_by_fit(connection: Connection) -> Table:
    """Show the average score of the leads of each fit.

    Args:
        connection: The one that remembers.

    Returns:
        A histogram.
    """
    rows = connection.execute(
        """
        SELECT score ->> 'fit', round(avg((score ->> 'value')::numeric))::integer
        FROM leads WHERE score ->> 'fit' IS NOT NULL GROUP BY 1 ORDER BY 2 DESC
        """
    ).fetchall()
    return histogram(rows)


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    ratios: Sequence[int | None] = (),
) -> Table:
    """Lay out rows under a header; a long text is cut at the terminal's width.

    Args:
        header: The columns' names.
        rows: One value for each column; numbers are aligned right.
        ratios: How columns share the terminal's width; None for one that has its own.

    Returns:
        The table.
    """
    made = Table(
        box=None,
        expand=bool(ratios),
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )
    rows = list(rows)
    columns = zip_longest(header, (rows or [header])[0], ratios)
    for name, value, ratio in columns:
        made.add_column(
            name,
            justify="right" if isinstance(value, int) else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=ratio,
        )
    for row in rows:
        made.add_row(*map(shown, row))
    return made


def histogram(rows: Sequence[tuple[str, int]]) -> Table:
    """Draw a bar for each row.

    Args:
        rows: Name and number.

    Returns:
        The bars, the longest for the largest number.
    """
    most = max((number for _, number in rows), default=1)
    made = Table.grid(padding=(0, 1))
    made.add_column(no_wrap=True)
    made.add_column(justify="right", no_wrap=True)
    for name, number in rows:
        bar = ProgressBar(
            total=most,
            completed=number,
            width=_BAR_WIDTH,
            complete_style="cyan",
            finished_style="cyan",
            style="bar.back",
        )
        made.add_row(shown(name), shown(number), bar)
    return made


def shown(value: object) -> RenderableType:
    """Give a value as one line without control characters.

    Args:
        value: Anything; text may come from the API.

    Returns:
        The text, empty for None.
    """
    if value is None:
        return Text("")
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return Text(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
