"""A Meltano project with the tap and target-postgres, and Meltano in it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sysconfig
import uuid
from contextlib import contextmanager, suppress
from importlib.metadata import distribution
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tap_leadintent.definitions import FOLDER as DEFINITIONS
from tap_leadintent.demo.processes import DemoError, child, last_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_OTHER_RUNS = ("MELTANO_", "TAP_LEADINTENT_", "TARGET_POSTGRES_")
_TICK = 0.2
"""Seconds between two looks at how far a run has come. Fewer slow the run down; more
make the picture jump."""

_PROJECT = """\
requires_meltano: '>=4,<5'
project_id: {id}
send_anonymous_usage_stats: false
default_environment: dev
environments:
- name: dev
# What the demo ran: the sandbox's year, in a schema of its own.
- name: {schema}
  config:
    plugins:
      extractors:
      - name: tap-leadintent
        config:
          start_date: '{since}'
      loaders:
      - name: target-postgres
        config:
          default_target_schema: {schema}
plugins:
  extractors:
{tap}  loaders:
{target}"""

_IGNORED = ".env\n.meltano/\nmeltano.log\noutput/\npostgres/\npostgres.log\n"


def write_project(folder: Path, schema: str, since: str) -> None:
    """Write a project's files.

    Args:
        folder: The project, which is there.
        schema: Name of the demo's environment, and of its schema in the database.
        since: `start_date` of the demo's environment.
    """
    text = _PROJECT.format(
        id=uuid.uuid4(),
        schema=schema,
        since=since,
        tap=_plugin("tap-leadintent"),
        target=_plugin("target-postgres"),
    )
    (folder / "meltano.yml").write_text(text, encoding="utf-8")
    (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")


def _plugin(name: str) -> str:
    """Give a definition as an item of a list of plugins."""
    definition = (DEFINITIONS / f"{name}.yaml").read_text(encoding="utf-8")
    lines = [line for line in definition.splitlines() if not line.startswith("#")]
    if name == "tap-leadintent" and (source := _source()):
        lines = [
            f"pip_url: {source}" if line.startswith("pip_url: ") else line
            for line in lines
        ]
    return f"  - {indent(chr(10).join(lines), '    ')[4:]}\n"


def _source() -> str | None:
    """Say where this tap was installed from, unless it was an index."""
    told = distribution("tap-leadintent").read_text("direct_url.json")
    if told is None:
        return None
    origin = json.loads(told)
    url = origin["url"]
    if origin.get("dir_info", {}).get("editable"):
        return f"-e {shlex.quote(unquote(urlsplit(url).path))}"
    if version := origin.get("vcs_info"):
        url = f"{version['vcs']}+{url}@{version['commit_id']}"
    # Without spaces, at which Meltano would cut it.
    return f"tap-leadintent@{url}"


class Meltano:
    """Meltano in a project."""

    def __init__(self, project: Path, log: Path, settings: Mapping[str, str]) -> None:
        """Prepare.

        Args:
            project: Folder of the project.
            log: What Meltano says is appended to it.
            settings: Environment variables of Meltano and its plugins.
        """
        self.log = log
        self._project = project
        self._env = {**_environment(), **settings}

    def __call__(
        self, *arguments: str, meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Run a command to its end.

        Args:
            arguments: Those of the command line.
            meanwhile: Is called several times a second.

        Raises:
            DemoError: It failed; the message ends with what it said last.
        """
        with self._running(arguments) as process:
            while not _has_ended(process):
                meanwhile()

    def output(self, *arguments: str) -> bytes:
        """Run a command to its end, and give what it printed.

        Args:
            arguments: Those of the command line.

        Returns:
            Its standard output.

        Raises:
            DemoError: It failed; the message ends with what the log says last.
        """
        with self._running(arguments, stdout=subprocess.PIPE) as process:
            printed, _ = process.communicate()
        return printed

    @contextmanager
    def _running(
        self, arguments: Sequence[str], stdout: int | None = None
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run a command whose output goes to the log, unless `stdout` says otherwise.

        The block waits for its end.
        """
        with (
            self.log.open("ab") as log,
            child(
                [program("meltano"), *arguments],
                cwd=self._project,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log if stdout is None else stdout,
                stderr=log,
            ) as process,
        ):
            yield process
        if process.returncode:
            msg = (
                f"meltano {' '.join(arguments)} ended with exit code "
                f"{process.returncode}; the end of {self.log}:\n{last_lines(self.log)}"
            )
            raise DemoError(msg)


def program(name: str) -> Path:
    """Give the path of a program of this environment."""
    return Path(sysconfig.get_path("scripts"), name)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(_TICK)
    return process.returncode is not None


def _environment() -> dict[str, str]:
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_OTHER_RUNS)
    }
    # A proxy of the environment serves the installation, not the local sandbox.
    direct = [env.get("NO_PROXY") or env.get("no_proxy"), "127.0.0.1"]
    no_proxy = ",".join(filter(None, direct))
    return env | {
        "MELTANO_SEND_ANONYMOUS_USAGE_STATS": "false",
        "NO_COLOR": "1",
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
    }
