"""Fixtures that install servers, and run them in front of the sandbox."""

import fcntl
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.environments import build
from tests.support.runs import poll

HERE = Path(__file__).parent

DEBIAN = {
    "nginx": "nginx-light",
    "haproxy": "haproxy",
    "caddy": "caddy",
    "varnishd": "varnish",
    "lighttpd": "lighttpd",
    "squid": "squid",
    "tinyproxy": "tinyproxy",
}
"""Programs, and the packages of Debian that have them."""


@dataclass(frozen=True)
class Installed:
    """The servers of all registries."""

    folder: Path
    """Where programs of Node.js find their packages."""

    python: Path
    """A Python with the packages of `requirements.txt`."""

    @contextmanager
    def serving(
        self,
        command: Sequence[str],
        upstream: str,
        template: Path | None = None,
        **values: str,
    ) -> Iterator[str]:
        """Run a server on a free port until the context ends.

        Args:
            command: The program and its arguments. In these and in the template,
                `{port}`, `{upstream}`, `{address}` (the same without `http://`),
                `{config}` (the template's copy), `{folder}` and `{python}` are
                replaced. Programs of ours are named from the folder of the tests.
            upstream: The address of the API.
            template: Its configuration, if it needs one.
            values: What else is replaced.

        Yields:
            Its address.
        """
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        folder = self.folder / str(port)
        folder.mkdir()
        # Some servers have a user of their own when the tests run as root.
        folder.chmod(0o777)
        values |= {
            "port": str(port),
            "upstream": upstream,
            "address": urlsplit(upstream).netloc,
            "upstream_port": str(urlsplit(upstream).port),
            "folder": str(folder),
            "config": str(folder / "config"),
            "python": str(self.python),
        }
        if template:
            text = template.read_text(encoding="utf-8").format_map(values)
            (folder / "config").write_text(text, encoding="utf-8")
        words = [word.format_map(values) for word in command]
        with subprocess.Popen(words, cwd=self.folder) as process:  # noqa: S603 - ours
            try:
                poll(lambda: _accepts(port) or process.poll() is not None)
                assert process.poll() is None, "it did not start"
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()


def _accepts(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install what is missing, once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "gateways"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _install(folder)
    return Installed(folder, folder / "environment/bin/python")


def _install(folder: Path) -> None:
    missing = [package for name, package in DEBIAN.items() if not shutil.which(name)]
    if missing:
        _run("apt-get", "update", "-q")
        _run("apt-get", "install", "-q", "-y", "--no-install-recommends", *missing)
    folder.mkdir()
    shutil.copy(HERE / "package.json", folder)
    shutil.copytree(HERE / "limiters", folder / "limiters")
    shutil.copytree(HERE / "upstreams", folder / "upstreams")
    _run("npm", "install", "--no-audit", "--no-fund", "--silent", folder=folder)
    build(HERE / "requirements.txt", folder / "environment")


def _run(*command: str, folder: Path | None = None) -> None:
    subprocess.run(command, check=True, cwd=folder)  # noqa: S603 - our own commands
