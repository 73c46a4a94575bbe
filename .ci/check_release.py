"""Check what a release would publish: `python .ci/check_release.py dist`.

The wheel contains the files of the package that git knows, and nothing else. Installed
alone into a new environment, its commands work; with `--demo`, so does the demo. The
sdist can be installed, too. This script needs uv and git.
"""

import argparse
import json
import subprocess
import sys
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
    parser.add_argument("--tag", default="", help="of the release, such as v1.2.3")
    parser.add_argument("--demo", action="store_true", help="run the demo, too")
    arguments = parser.parse_args()
    wheel = _find_one(arguments.folder, f"{PACKAGE}-*.whl")
    version = wheel.name.split("-")[1]
    if arguments.tag and arguments.tag != f"v{version}":
        sys.exit(f"the tag is {arguments.tag}, but the version is {version}")
    sdist = _find_one(arguments.folder, f"{PACKAGE}-{version}.tar.gz")
    _check_contents(wheel, version)
    with TemporaryDirectory() as folder:
        _check_sdist(sdist, Path(folder), version)
        _check_commands(wheel, Path(folder), version)
        if arguments.demo:
            _check_demo(wheel, Path(folder))
    print(f"{wheel.name} can be released")


def _find_one(folder: Path, pattern: str) -> Path:
    paths = [*folder.glob(pattern)]
    if len(paths) != 1:
        sys.exit(f"{folder} has {len(paths)} files {pattern}, not one")
    return paths[0].resolve()


def _check_contents(wheel: Path, version: str) -> None:
    actual = set(ZipFile(wheel).namelist())
    tracked = subprocess.check_output(["git", "ls-files", PACKAGE], cwd=ROOT, text=True)
    expected = {*tracked.splitlines()}
    expected |= {f"{PACKAGE}-{version}.dist-info/{name}" for name in METADATA}
    if actual != expected:
        lacks, has = sorted(expected - actual), sorted(actual - expected)
        sys.exit(f"{wheel.name} lacks {lacks}, and has {has} beside the package")


def _check_sdist(sdist: Path, folder: Path, version: str) -> None:
    tap = _install(sdist, folder / "from_sdist") / "tap-leadintent"
    printed = _run(tap, "--version", folder=folder)
    if version not in printed:
        sys.exit(f"{sdist.name} installs {printed}")


def _install(package: Path, environment: Path) -> Path:
    """Install a package into a new environment, and return where its programs are."""
    folder = environment.parent
    _run("uv", "venv", "--quiet", environment, folder=folder)
    python = environment / "bin" / "python"
    _run("uv", "pip", "install", "--quiet", "--python", python, package, folder=folder)
    return python.parent


def _check_commands(wheel: Path, folder: Path, version: str) -> None:
    programs = _install(wheel, folder / "environment")
    tap = programs / "tap-leadintent"
    about = json.loads(_run(tap, "--about", "--format=json", folder=folder))
    if (about["name"], about["version"]) != ("tap-leadintent", version):
        sys.exit(f"--about is that of {about['name']} {about['version']}")
    definition = _run(
        programs / "tap-leadintent-definition", "tap-leadintent", folder=folder
    )
    if f"pip_url: tap-leadintent=={version}\n" not in definition:
        sys.exit(f"the definition does not install version {version}")
    _run(programs / "tap-leadintent-state", "--help", folder=folder)


def _check_demo(wheel: Path, folder: Path) -> None:
    package = f"tap-leadintent[demo] @ {wheel.as_uri()}"
    print(_run("uvx", "--from", package, "tap-leadintent-demo", "demo", folder=folder))


def _run(*command: Path | str, folder: Path) -> str:
    """Run a command in a folder outside the clone and return what it printed."""
    process = subprocess.run(
        command,
        cwd=folder,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    if process.returncode:
        sys.exit(f"{Path(command[0]).name} ended with exit code {process.returncode}")
    return process.stdout


if __name__ == "__main__":
    main()
