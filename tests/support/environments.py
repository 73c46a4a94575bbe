"""Python environments with packages of their own, which uv installs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def build(requirements: Path, folder: Path) -> Path:
    """Install the requirements of a file into a new folder.

    Everything is compiled, as after a first run.

    Returns:
        The folder of the programs.
    """
    uv("venv", "--python", sys.executable, folder)
    uv(
        "pip",
        "install",
        "--compile-bytecode",
        "--python",
        folder / "bin/python",
        "--requirements",
        requirements,
    )
    return folder / "bin"


def uv(*arguments: Path | str, **variables: str) -> None:
    """Run uv with additional environment variables."""
    command = [
        shutil.which("uv") or "uv",
        "--quiet",
        *arguments,
    ]
    subprocess.run(  # noqa: S603
        command,
        check=True,
        env={**os.environ, **variables},
    )
