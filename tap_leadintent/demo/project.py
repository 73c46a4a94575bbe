"""The project's own `meltano.yml`, run by Meltano as a user would run it."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from tap_leadintent.demo.processes import DemoError, child, last_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = Path(__file__).parents[2]
"""Folder of the clone that the demo runs from."""

_OTHER_RUNS = ("MELTANO_", "TAP_LEADINTENT_", "TARGET_POSTGRES_")


class Meltano:
    """Meltano with a system folder of its own.

    Plugins, state and everything else are kept there, so that a former demo and the
    user's own runs do not interfere.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        """Prepare.

        Args:
            folder: The system folder; its output is logged beside it.
            settings: Environment variables of the plugins.
        """
        self.log = folder.with_suffix(".log")
        self._env = {**_environment(folder), **settings}

    def __call__(self, *arguments: str) -> None:
        """Run a command to its end.

        Args:
            arguments: Those of the command line.

        Raises:
            DemoError: It failed; the message ends with what it said last.
        """
        program = Path(sysconfig.get_path("scripts"), "meltano")
        with (
            self.log.open("ab") as log,
            child(
                [program, *arguments],
                cwd=PROJECT,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            code = process.wait()
        if code:
            msg = (
                f"meltano {' '.join(arguments)} ended with exit code {code}; "
                f"the end of {self.log}:\n{last_lines(self.log)}"
            )
            raise DemoError(msg)


def _environment(folder: Path) -> dict[str, str]:
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_OTHER_RUNS)
    }
    # A proxy of the environment serves the installation, not the local sandbox.
    direct = [env.get("NO_PROXY") or env.get("no_proxy"), "127.0.0.1"]
    no_proxy = ",".join(filter(None, direct))
    return env | {
        "MELTANO_SYS_DIR_ROOT": str(folder),
        "MELTANO_SEND_ANONYMOUS_USAGE_STATS": "false",
        "NO_COLOR": "1",
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
    }
