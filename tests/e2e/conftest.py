"""What takes a process or a server: sandbox, tap, builds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tap_leadintent.sandbox import Sandbox, running_sandbox
from tests.support.environments import uv
from tests.support.pages import ROOT
from tests.support.runs import CLOCK


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
