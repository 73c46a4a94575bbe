"""Python environments with packages of their own, made by uv."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def build(requirements: Path, folder: Path) -> Path:
    """Install what a file requires, into a new folder; give that of its programs.

    All is compiled, as after a first run.
    """
    uv("venv", "--python", sys.executable, folder)
    uv(
        *("pip", "install", "--compile-bytecode", "--python", folder / "bin/python"),
        *("--requirements", requirements),
    )
    return folder / "bin"


def uv(*arguments: Path | str, **variables: str) -> None:
    """Run uv, with these environment variables in addition."""
    command = [shutil.which("uv") or "uv", "--quiet", *arguments]
    subprocess.run(command, check=True, env={**os.environ, **variables})  # noqa: S603
