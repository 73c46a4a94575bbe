"""Asks Snowflake, or what stands in for it: `query.py PORT STATEMENT…`.

A program of its own, in the environment of `requirements.txt`. It prints a JSON list
of the rows of each statement, each row an object; times as ISO 8601.
"""

import json
import sys
from datetime import datetime

import snowflake.connector


def _shown(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def main(port: str, *statements: str) -> None:
    """Print the rows of each statement."""
    with snowflake.connector.connect(
        account="fakesnow",
        user="any",
        password="any",  # noqa: S106
        host="127.0.0.1",
        port=int(port),
        protocol="http",
        database="TESTDB",
    ) as connection:
        for statement in statements:
            cursor = connection.cursor(snowflake.connector.DictCursor)
            print(json.dumps(cursor.execute(statement).fetchall(), default=_shown))


if __name__ == "__main__":
    main(*sys.argv[1:])
