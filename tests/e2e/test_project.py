"""All lines of the pages, in their order, in one Meltano project."""

from pathlib import Path

import pytest

from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.sandbox import Sandbox
from tests.support.walk import begin_walk


@pytest.mark.long
def test_the_lines_of_the_pages_in_one_project(
    sandbox: Sandbox, postgres: Postgres, tmp_path: Path
) -> None:
    with begin_walk(sandbox, postgres, tmp_path) as walk:
        walk.install()
        walk.state()
        walk.settings()
        walk.columns()
        walk.recipes()
        walk.warehouses()
        walk.troubles()
        walk.scaling()
        walk.upgrade()
        walk.production()
