"""A type checker that knows nothing of this clone finds the types of the package."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.helpers import TIMEOUT

CODE = Path(__file__).with_name("code_of_a_user.py")


def test_the_types_of_what_users_import(tmp_path: Path) -> None:
    # In a folder of the clone, it would read the package as code of the same project.
    code = shutil.copy(CODE, tmp_path)
    done = subprocess.run(  # noqa: S603 - the type checker
        [sys.executable, "-m", "mypy", "--config-file=", "--strict", code],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stdout
