"""Copies of the repository with a git history of their own."""

import shutil
import subprocess
from pathlib import Path

from tests.support.environments import uv
from tests.support.pages import ROOT

_SOURCES = ("LICENSE", "README.md", "meltano.yml", "plugin.yaml", "pyproject.toml")


class Repository:
    """A repository with what a package is built from, as one commit.

    Attributes:
        folder: Its folder, which users can clone.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder and the commit."""
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__")
        package = folder / "tap_leadintent"
        shutil.copytree(ROOT / "tap_leadintent", package, ignore=ignored)
        for name in _SOURCES:
            shutil.copy(ROOT / name, folder)
        self.git("init", "--initial-branch=main")
        self.commit()

    def commit(self) -> None:
        """Commit everything that is in the folder."""
        self.git("add", "--all")
        author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        self.git(*author, "commit", "--allow-empty", "--message=Change something")

    def git(self, *arguments: str) -> None:
        """Run git in the folder."""
        command = ["git", *arguments]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)  # noqa: S603

    def build(self) -> str:
        """Build a wheel and return its version."""
        uv("build", "--wheel", "--clear", self.folder)
        (wheel,) = (self.folder / "dist").glob("*.whl")
        return wheel.name.split("-")[1]
