"""What takes a process or a server: sandbox, tap, PostgreSQL, a Meltano project."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tap_leadintent.demo.postgres import Postgres, running_postgres
from tap_leadintent.sandbox import Sandbox, running_sandbox
from tests.support.environments import uv
from tests.support.helpers import Run
from tests.support.pages import ROOT
from tests.support.pipelines import PostgresWarehouse, install
from tests.support.postgres import Rows, tables_of
from tests.support.runs import CLOCK
from tests.support.targets import run_target


@pytest.fixture(autouse=True)
def _no_certificates() -> None:
    """Keep those of the environment: what is installed may come from afar."""


@pytest.fixture(scope="session")
def server() -> Iterator[Sandbox]:
    """One sandbox process for all tests of this process."""
    with running_sandbox("--clock", CLOCK) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheel and sdist of this code, as an index would offer them."""
    folder = tmp_path_factory.mktemp("packages")
    uv("build", "--out-dir", folder, ROOT)
    return folder


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
    """Load what a run wrote, as `meltano.yml` has it; return the rows of all tables."""
    place = {"sqlalchemy_url": postgres.url, "default_target_schema": tmp_path.name}

    def load(run: Run) -> dict[str, Rows]:
        run_target(tmp_path, "target-postgres", place, run.succeeded().stdout)
        return tables_of(postgres, tmp_path.name)

    return load
