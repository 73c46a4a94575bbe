"""What `.ci/check_release.py` accepts and refuses, and which versions builds have."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from tests.support.clones import Repository
from tests.support.helpers import TIMEOUT
from tests.support.pages import ROOT


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, ROOT / ".ci" / "check_release.py", folder, *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )


def test_a_build_can_be_released_with_its_own_tag(packages: Path) -> None:
    (wheel,) = packages.glob("*.whl")
    done = check(packages, "--tag", f"v{wheel.name.split('-')[1]}")
    assert done.returncode == 0, done.stderr
    assert "can be released" in done.stdout
    other = check(packages, "--tag", "v9.9.9")
    assert other.returncode == 1
    assert other.stderr.startswith("the tag is v9.9.9, but the version is ")


def test_a_file_that_git_does_not_know_is_found(packages: Path, tmp_path: Path) -> None:
    name = "tap_leadintent/extra.py"
    folder = shutil.copytree(packages, tmp_path / "packages")
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel, "a") as archive:
        archive.writestr(name, "")
    done = check(folder)
    assert done.returncode == 1
    assert f"lacks [], and has ['{name}'] beside the package" in done.stderr


def test_a_tag_names_a_version_and_each_commit_after_it_another(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.git("tag", "v1.2.3")
    assert repository.build() == "1.2.3"
    repository.commit()
    assert re.fullmatch(r"1\.2\.3\.post1\+g[0-9a-f]+", repository.build())
