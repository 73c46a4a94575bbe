"""Fixtures with the services that loaders load, and with the loaders."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tap_leadintent.demo.postgres import Postgres
from tests.e2e.other_loaders.elasticsearch import running_elasticsearch
from tests.e2e.other_loaders.loaders import Loader, Services
from tests.support.environments import build
from tests.support.pipelines import serving, shorten_state_interval

_HERE = Path(__file__).parent
_REQUIREMENTS = _HERE / "requirements"


@pytest.fixture(scope="session")
def services(
    tmp_path_factory: pytest.TempPathFactory,
    postgres: Postgres,
) -> Iterator[Services]:
    """Serve all services, for all tests of this process."""
    folder = tmp_path_factory.mktemp("stand-ins")
    programs = build(_REQUIREMENTS / "stand-ins.txt", folder / "environment")
    stand_ins = _HERE / "stand_ins.py"
    with (
        serving(programs, _HERE.parent / "s3" / "server.py") as s3,
        serving(programs, stand_ins, "gcs") as gcs,
        serving(programs, stand_ins, "kafka") as kafka,
        serving(programs, stand_ins, "clickhouse") as clickhouse,
        running_elasticsearch() as elasticsearch,
    ):
        yield Services(
            postgres=postgres,
            s3=s3,
            gcs=gcs,
            kafka=kafka,
            clickhouse=clickhouse,
            elasticsearch=elasticsearch,
        )


@pytest.fixture
def new_loader(services: Services, tmp_path: Path) -> Callable[[type[Loader]], Loader]:
    """Install a loader, and give it a place of its own."""

    def install(kind: type[Loader]) -> Loader:
        requirements = _REQUIREMENTS / f"{kind.name}.txt"
        programs = build(requirements, tmp_path / "environment")
        if kind.is_of_sdk:
            shorten_state_interval(tmp_path / "environment", 0.1)
        folder = tmp_path / f"by-{kind.name}".replace("-", "_")
        folder.mkdir()
        return kind(services, programs, folder)

    return install
