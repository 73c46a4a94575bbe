"""Which servers are tried; the log of the week shows their versions."""

import re
import subprocess

import pytest

from tests.e2e.gateways.conftest import DEBIAN, Installed

PROGRAMS = {
    **{program: [program, "-v"] for program in DEBIAN},
    "caddy": ["caddy", "version"],
    "varnishd": ["varnishd", "-V"],
    "packages of PyPI": ["uv", "pip", "list", "--python", "{python}"],
    "packages of npm": ["npm", "ls", "--depth", "0"],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_version_is_printed(installed: Installed, name: str) -> None:
    command = [word.format(python=installed.python) for word in PROGRAMS[name]]
    done = subprocess.run(  # noqa: S603 - our own commands
        command,
        capture_output=True,
        check=True,
        cwd=installed.folder,
        text=True,
    )
    text = done.stdout + done.stderr
    versions = text if name.startswith("packages") else text.splitlines()[0]
    print(versions)  # noqa: T201 - for the log of the week
    assert re.search(r"\d+\.\d+", versions)
