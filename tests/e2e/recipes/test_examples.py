"""The example for pytest of the page about the sandbox."""

import shutil
from pathlib import Path

from tests.support.pages import ROOT, typed


def test_the_example_for_pytest_passes(tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "docs/examples/pytest", tmp_path / "example")
    assert "3 passed" in typed("python -m pytest -q -p no:cacheprovider", folder)
