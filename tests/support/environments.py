"""Python environments with packages of their own, made by uv."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


class Environment:
    """An environment, with its packages already compiled, as after a first run."""

    def __init__(self, folder: Path) -> None:
        """Name the folder that it is in."""
        self.programs = folder / "bin"
        self.python = self.programs / "python"


def build(requirements: Path, folder: Path) -> Environment:
    """Install what a file requires, into a new folder."""
    environment = Environment(folder)
    uv("venv", "--python", sys.executable, folder)
    uv(
        *("pip", "install", "--compile-bytecode", "--python", environment.python),
        *("--requirements", requirements),
    )
    return environment


def uv(*arguments: Path | str, **variables: str) -> None:
    """Run uv, with these environment variables in addition."""
    command = [shutil.which("uv") or "uv", "--quiet", *arguments]
    subprocess.run(command, check=True, env={**os.environ, **variables})  # noqa: S603
