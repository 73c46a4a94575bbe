"""Fixtures with a stand-in for S3, and with the plugins that load it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.environments import build
from tests.support.helpers import Json
from tests.support.pipelines import Warehouse, install, printed_by, serving

_HERE = Path(__file__).parent
_TARGET = "target-s3"


@dataclass(frozen=True)
class Lake(Warehouse):
    """A bucket of the stand-in for S3."""

    url: str
    programs: Path

    def settings(self, schema: str) -> dict[str, str]:
        """Return the environment variables for loading the bucket."""
        del schema  # the prefix is the loader's default, or a setting of the test
        aws = "TARGET_S3_CLOUD_PROVIDER_AWS_AWS_"
        return {
            f"{aws}BUCKET": "lake",
            f"{aws}REGION": "us-east-1",
            f"{aws}ACCESS_KEY_ID": "any",
            f"{aws}SECRET_ACCESS_KEY": "any",
            f"{aws}ENDPOINT_OVERRIDE": self.url,
        }

    def ask(self, query: str) -> list[Json]:
        """Return the rows of a query about the files below `s3://lake`."""
        with TemporaryDirectory() as folder:
            program = _HERE / "query.py"
            return printed_by(
                self.programs,
                program,
                self.url,
                folder,
                query,
            )


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """Serve the stand-in, and install target-s3, for all tests."""
    folder = tmp_path_factory.mktemp("s3")
    programs = build(_HERE / "requirements.txt", folder / "environment")
    system = install(folder / "meltano", _TARGET)
    with serving(programs, _HERE / "server.py") as url:
        yield Lake(system, _TARGET, url, programs)
