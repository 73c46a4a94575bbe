"""The fixtures for tests of pipelines, used as their docstring says."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from tap_leadintent.sandbox import fixtures
from tests.support.helpers import TIMEOUT


def test_the_example_of_the_fixtures(tmp_path: Path) -> None:
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", fixtures.__doc__ or "", re.MULTILINE)
    conftest, test = [dedent(block) for block in blocks if block.strip()]
    (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
    (tmp_path / "test_leads.py").write_text(test, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert "1 passed" in done.stdout, done.stdout
