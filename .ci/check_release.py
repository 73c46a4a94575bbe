"""Checks what a release would publish: `python .ci/check_release.py dist`.

The wheel holds the package and nothing else; installed alone in a bare environment,
its commands work; with `--demo`, the demo too. It needs uv and git.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
PACKAGE = "tap_leadintent"
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


def main() -> None:
    """Check the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with one wheel and one sdist")
    parser.add_argument("--tag", default="", help="that is released, such as v1.2.3")
    parser.add_argument("--demo", action="store_true", help="run the demo, too")
    told = parser.parse_args()
    version = _version()
    if told.tag and told.tag != f"v{version}":
        sys.exit(f"the tag is {told.tag}, but the version {version}")
    wheel = _only(told.folder, f"{PACKAGE}-{version}-*.whl")
    _only(told.folder, f"{PACKAGE}-{version}.tar.gz")
    _check_contents(wheel, version)
    with TemporaryDirectory() as folder:
        _check_commands(wheel, Path(folder), version)
        if told.demo:
            _check_demo(wheel, Path(folder))
    print(f"{wheel.name} can be released")


def _version() -> str:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def _only(folder: Path, pattern: str) -> Path:
    found = [*folder.glob(pattern)]
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} files {pattern}, not one")
    return found[0].resolve()


def _check_contents(wheel: Path, version: str) -> None:
    held = set(ZipFile(wheel).namelist())
    tracked = subprocess.check_output(["git", "ls-files", PACKAGE], cwd=ROOT, text=True)
    wanted = {*tracked.splitlines()}
    wanted |= {f"{PACKAGE}-{version}.dist-info/{name}" for name in METADATA}
    if held != wanted:
        lacks, has = sorted(wanted - held), sorted(held - wanted)
        sys.exit(f"{wheel.name} lacks {lacks}, and has {has} beside the package")


def _check_commands(wheel: Path, folder: Path, version: str) -> None:
    programs = folder / "environment" / "bin"
    _run("uv", "venv", "--quiet", programs.parent, folder=folder)
    python = programs / "python"
    _run("uv", "pip", "install", "--quiet", "--python", python, wheel, folder=folder)
    told = _run(programs / "tap-leadintent", "--about", "--format=json", folder=folder)
    about = json.loads(told)
    if (about["name"], about["version"]) != ("tap-leadintent", version):
        sys.exit(f"--about is that of {about['name']} {about['version']}")
    definition = _run(
        programs / "tap-leadintent-definition", "tap-leadintent", folder=folder
    )
    if f"pip_url: tap-leadintent=={version}\n" not in definition:
        sys.exit(f"the definition does not install version {version}")
    _run(programs / "tap-leadintent-state", "--help", folder=folder)


def _check_demo(wheel: Path, folder: Path) -> None:
    told = _run(
        *("uvx", "--from", f"tap-leadintent[demo] @ {wheel.as_uri()}"),
        *("tap-leadintent-demo", "demo"),
        folder=folder,
    )
    print(told)


def _run(*command: Path | str, folder: Path) -> str:
    """Run a command away from the clone, and give what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{Path(command[0]).name} ended with exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()
