"""The fixtures for users' own tests, in a test run of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING

from tests.support.helpers import TIMEOUT
from tests.support.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "docs" / "examples" / "pytest"


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder as those of another project."""
    ours = sysconfig.get_path("scripts")
    return subprocess.run(  # noqa: S603 - our own environment
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PATH": f"{ours}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )


def test_the_example_holds(tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLE, tmp_path / "example")
    done = run_pytest(folder)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_each_test_gets_a_sandbox_in_its_first_state(tmp_path: Path) -> None:
    conftest = (EXAMPLE / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
    test = """
def test_a(leadintent_sandbox, leadintent_config):
    leadintent_sandbox.configure(sizes={"leads": 3}, api_key="another-key")
    assert len(leadintent_sandbox.records("leads")) == 3

def test_b(leadintent_sandbox):
    assert len(leadintent_sandbox.records("leads")) > 3
"""
    (tmp_path / "test_both.py").write_text(test, encoding="utf-8")
    assert "2 passed" in run_pytest(tmp_path).stdout
