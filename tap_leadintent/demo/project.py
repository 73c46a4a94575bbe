"""Writes a Meltano project with the tap and target-postgres, and runs Meltano in it."""

import json
import os
import shlex
import sysconfig
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from tap_leadintent.definitions import definition
from tap_leadintent.demo.processes import DemoError, child, last_lines

_PREFIXES = ("MELTANO_", "TAP_LEADINTENT_", "TARGET_POSTGRES_")
_IGNORED = ".env\n.meltano/\nmeltano.log\npostgres/\npostgres.log\n"


def write_project(folder: Path) -> None:
    """Write the files of a project into an existing folder."""
    tap = _plugin("tap-leadintent")
    target = _plugin("target-postgres")
    tap["pip_url"] = _source() or tap["pip_url"]
    project = {
        "send_anonymous_usage_stats": False,
        "default_environment": "dev",
        "environments": [{"name": "dev"}],
        "plugins": {"extractors": [tap], "loaders": [target]},
    }
    text = yaml.safe_dump(project, sort_keys=False)
    (folder / "meltano.yml").write_text(text, encoding="utf-8")
    (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")


def _plugin(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(definition(name)))


def _source() -> str | None:
    """Return the requirement for the source of this tap, None if it is an index."""
    text = distribution("tap-leadintent").read_text("direct_url.json")
    if text is None:
        return None
    origin = json.loads(text)
    url = origin["url"]
    if "dir_info" in origin:
        return f"-e {shlex.quote(unquote(urlsplit(url).path))}"
    version = origin.get("vcs_info")
    if version:
        url = f"{version['vcs']}+{url}@{version['commit_id']}"
    # Meltano would divide it at spaces.
    return f"tap-leadintent@{url}"


def program(name: str) -> Path:
    """Return the path of a program of this environment."""
    return Path(sysconfig.get_path("scripts"), name)


class Meltano:
    """Runs Meltano in a project."""

    def __init__(
        self,
        project: Path,
        log: Path,
        settings: Mapping[str, str],
    ) -> None:
        """Prepare the environment of Meltano.

        Args:
            project: The folder of the project.
            log: The file to which the output of Meltano is appended.
            settings: Environment variables for Meltano and its plugins.
        """
        self.log = log
        self._project = project
        self._env = {"NO_COLOR": "1", **settings}
        for name, value in os.environ.items():
            if not name.startswith(_PREFIXES):
                self._env.setdefault(name, value)

    def __call__(self, *arguments: str) -> None:
        """Run a command of Meltano to its end.

        Args:
            arguments: The arguments of the command line.

        Raises:
            DemoError: The command failed. The message contains its last output.
        """
        with (
            self.log.open("ab") as log,
            child(
                [program("meltano"), *arguments],
                cwd=self._project,
                env=self._env,
                stdout=log,
                stderr=log,
            ) as process,
        ):
            code = process.wait()
        if code:
            reason = f"meltano {' '.join(arguments)} ended with exit code {code}"
            raise DemoError(f"{reason}; {self.log}:\n{last_lines(self.log)}")
