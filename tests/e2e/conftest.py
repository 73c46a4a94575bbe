"""One PostgreSQL and one Meltano project for all tests of this process."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tap_leadintent.demo.postgres import running_postgres
from tests.support.pipelines import PostgresWarehouse, install
from tests.support.postgres import tables_of
from tests.support.targets import run_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tap_leadintent.demo.postgres import Postgres
    from tests.support.helpers import Run
    from tests.support.postgres import Rows


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A database that no other process uses."""
    # Neither the path of a socket nor the rights of pytest's folders would do.
    with TemporaryDirectory(prefix="pg-") as folder:
        Path(folder).chmod(0o755)
        with running_postgres(Path(folder) / "data") as server:
            yield server


@pytest.fixture(scope="session")
def warehouse(
    postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> PostgresWarehouse:
    """The same database, and Meltano with the plugins that load it."""
    target = "target-postgres"
    system = install(tmp_path_factory.mktemp("project") / "meltano", target)
    return PostgresWarehouse(system, target, postgres)


@pytest.fixture
def load(postgres: Postgres, tmp_path: Path) -> Callable[[Run], dict[str, Rows]]:
    """Load what runs of the tap wrote; give all rows of all tables."""

    def load(run: Run) -> dict[str, Rows]:
        schema = tmp_path.name
        settings = {"sqlalchemy_url": postgres.url, "default_target_schema": schema}
        run_target(tmp_path, "target-postgres", settings, run.succeeded().stdout)
        return tables_of(postgres, schema)

    return load
