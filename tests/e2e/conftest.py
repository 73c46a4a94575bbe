"""What takes a process or a server: sandbox, tap, PostgreSQL, a Meltano project."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tap_leadintent.demo.postgres import Postgres, running_postgres
from tap_leadintent.sandbox import Sandbox, running_sandbox
from tests.support.environments import uv
from tests.support.helpers import Run
from tests.support.pages import ROOT
from tests.support.pipelines import PostgresWarehouse, install
from tests.support.postgres import Rows, tables_of, types_of
from tests.support.runs import CLOCK
from tests.support.targets import run_target, settings_of
from tests.support.walk import Walk, begin, configure
from tests.support.walk import install as install_once


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
def load(
    postgres: Postgres, tmp_path: Path
) -> Iterator[Callable[[Run], dict[str, Rows]]]:
    """Load what runs of the tap wrote, as `meltano.yml` has it; give all tables' rows.

    In the end, all is loaded once more in the loader's own way, which checks each
    record against its schema and inserts row by row. Both must come to the same.
    """
    loader, checked = "target-postgres", {"use_copy": False, "validate_records": True}
    assert {**settings_of(loader), **checked} != settings_of(loader)
    messages: list[str] = []

    def load_into(schema: str, written: str, **changed: Any) -> dict[str, Rows]:
        settings = {"sqlalchemy_url": postgres.url, "default_target_schema": schema}
        run_target(tmp_path, loader, {**settings, **changed}, written)
        return tables_of(postgres, schema)

    def load(run: Run) -> dict[str, Rows]:
        messages.append(run.succeeded().stdout)
        return load_into(tmp_path.name, messages[-1])

    yield load
    careful = f"{tmp_path.name}_checked"
    tables = load_into(careful, "".join(messages), **checked)
    assert tables == tables_of(postgres, tmp_path.name)
    assert types_of(postgres, careful) == types_of(postgres, tmp_path.name)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the plugins, which all workers of pytest share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    install_once(shared / "installed")
    return shared / "installed"


@pytest.fixture
def new_walk(
    installed: Path, sandbox: Sandbox, postgres: Postgres, tmp_path: Path
) -> Walk:
    """A project with the tap and target-postgres, in which nothing is set."""
    return begin(installed, tmp_path, sandbox, postgres)


@pytest.fixture
def walk(new_walk: Walk) -> Walk:
    """The same with the settings of the page that installs it."""
    configure(new_walk)
    return new_walk
