"""Python environments of this tap and of the peers, each with packages of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).with_name("peers")
_PROJECT = PEERS.parents[2]


class Environment:
    """An environment, with its packages already compiled, as after a first run."""

    def __init__(self, folder: Path) -> None:
        """Name the folder that it is in."""
        self.programs = folder / "bin"
        self.python = self.programs / "python"

    def version(self, package: str) -> str:
        """Give the version of an installed package."""
        code = f"from importlib.metadata import version; print(version({package!r}))"
        told = subprocess.check_output([self.python, "-c", code], text=True)
        return told.strip()


def build_tap(folder: Path) -> Environment:
    """Install this tap as it is locked, without what only its developers need."""
    # Without reinstalling, uv may take a wheel of older code from its cache.
    reinstall = ("--reinstall-package", "tap-leadintent")
    _uv(
        *("sync", "--frozen", "--no-dev", "--no-editable", "--compile-bytecode"),
        *("--project", _PROJECT, "--python", sys.executable, *reinstall),
        UV_PROJECT_ENVIRONMENT=str(folder),
    )
    return Environment(folder)


def build_peer(peer: str, folder: Path) -> Environment:
    """Install what `peers/<peer>.txt` requires."""
    environment = Environment(folder)
    _uv("venv", "--python", sys.executable, folder)
    _uv(
        *("pip", "install", "--compile-bytecode", "--python", environment.python),
        *("--requirements", PEERS / f"{peer}.txt"),
    )
    return environment


def _uv(*arguments: Path | str, **variables: str) -> None:
    command = [shutil.which("uv") or "uv", "--quiet", *arguments]
    subprocess.run(command, check=True, env={**os.environ, **variables})
