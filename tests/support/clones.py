"""Copies of the repository with a git history of their own."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.support.environments import uv
from tests.support.pages import ROOT

_SOURCES = ("LICENSE", "README.md", "meltano.yml", "plugin.yaml", "pyproject.toml")


_ANOTHER = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "tap-leadintent"
version = "99"
[project.scripts]
tap-leadintent = "another:main"
tap-leadintent-definition = "another:main"
[tool.hatch.build.targets.wheel]
packages = ["another"]
"""


@contextmanager
def serving_another_package(folder: Path) -> Iterator[str]:
    """Serve a package index with a package of the tap's name that others have made.

    Args:
        folder: An empty folder.

    Yields:
        The address of the index.
    """
    source = folder / "source"
    (source / "another").mkdir(parents=True)
    (source / "pyproject.toml").write_text(_ANOTHER, encoding="utf-8")
    code = "def main(): print('run by somebody else')\n"
    (source / "another/__init__.py").write_text(code, encoding="utf-8")
    index = folder / "index"
    uv("build", "--wheel", "--out-dir", index / "tap-leadintent", source)
    handler = partial(SimpleHTTPRequestHandler, directory=str(index))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


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
        subprocess.run(  # noqa: S603
            command,
            cwd=self.folder,
            check=True,
            capture_output=True,
        )

    def build(self) -> str:
        """Build a wheel and return its version."""
        uv("build", "--wheel", "--clear", self.folder)
        (wheel,) = (self.folder / "dist").glob("*.whl")
        return wheel.name.split("-")[1]
