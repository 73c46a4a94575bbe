"""Fixtures that need the extra `demo`: PostgreSQL, and Meltano projects that load it.

`tests/conftest.py` registers them where it is installed.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tap_leadintent.demo.postgres import Postgres, running_postgres
from tap_leadintent.sandbox import Sandbox
from tests.support.pipelines import PostgresWarehouse, install
from tests.support.schemas import Schema
from tests.support.walk import Walk, begin, configure
from tests.support.walk import install as install_once


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
    postgres: Postgres,
    tmp_path_factory: pytest.TempPathFactory,
) -> PostgresWarehouse:
    """The same database, and Meltano with the plugins that load it."""
    target = "target-postgres"
    system = install(tmp_path_factory.mktemp("project") / "meltano", target)
    return PostgresWarehouse(system, target, postgres)


@pytest.fixture
def schema(postgres: Postgres, tmp_path: Path) -> Schema:
    """A schema that no other test uses."""
    return Schema(postgres, tmp_path)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the plugins, which all workers of pytest share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    install_once(shared / "installed")
    return shared / "installed"


@pytest.fixture
def new_walk(
    installed: Path,
    sandbox: Sandbox,
    postgres: Postgres,
    tmp_path: Path,
) -> Walk:
    """A project with the tap and target-postgres, in which nothing is set."""
    return begin(installed, tmp_path, sandbox, postgres)


@pytest.fixture
def walk(new_walk: Walk) -> Walk:
    """The same with the settings of the page that installs it."""
    configure(new_walk)
    return new_walk
