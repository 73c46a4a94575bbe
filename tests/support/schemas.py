"""A schema of PostgreSQL, and the loader that fills it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tap_leadintent.demo.postgres import Postgres
from tests.support.helpers import Json, Run
from tests.support.postgres import Rows, rows_of, tables_of
from tests.support.targets import run_target


@dataclass(frozen=True)
class Schema:
    """A schema that is loaded as `meltano.yml` has it.

    Attributes:
        postgres: The server.
        folder: The folder of the loader's files, which gives the schema its name.
    """

    postgres: Postgres
    folder: Path

    def load(
        self,
        run: Run,
        **changed: Any,
    ) -> None:
        """Load what a run of the tap wrote, with other settings of the loader."""
        settings = {
            "sqlalchemy_url": self.postgres.url,
            "default_target_schema": self.folder.name,
            **changed,
        }
        run_target(
            self.folder,
            "target-postgres",
            settings,
            run.stdout,
        )

    def rows(self, table: str) -> list[Json]:
        """Return the rows of a table with all columns; see `rows_of`."""
        return rows_of(self.postgres, self.folder.name, table)

    def tables(self) -> dict[str, Rows]:
        """Return the rows of all tables by id; see `rows_by_id`."""
        return tables_of(self.postgres, self.folder.name)

    def ask(self, statements: str) -> list[tuple[Any, ...]]:
        """Run the statements of a page, and return what the last one selects."""
        text = statements.replace("tap_leadintent", self.folder.name).encode()
        with self.postgres.connect() as connection:
            cursor = connection.execute(text)
            return cursor.fetchall() if cursor.description else []
