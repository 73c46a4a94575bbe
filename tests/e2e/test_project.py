"""The part of the way through the pages that each user goes, in one Meltano project."""

from pathlib import Path

import pytest

from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.sandbox import Sandbox
from tests.support.walk import begin_walk


@pytest.mark.long
def test_the_lines_from_the_installation_to_an_upgrade(
    sandbox: Sandbox, postgres: Postgres, tmp_path: Path
) -> None:
    """The environment `life` of tox runs the lines of all pages."""
    with begin_walk(sandbox, postgres, tmp_path) as walk:
        walk.readme()
        walk.state()
        walk.settings()
        walk.columns()
        walk.upgrade()
