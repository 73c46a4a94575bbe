"""The default lint looks at every file that it has a schema for."""

from __future__ import annotations

import tomllib

from tap_leadintent.definitions import FOLDER
from tests.support.pages import ROOT

TOX = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["tox"]
CHECKED = {word for words in TOX["env"]["lint"]["commands"] for word in words}


def test_every_file_with_a_schema_is_checked() -> None:
    github = ROOT / ".github"
    files = [
        *(github / "workflows").iterdir(),
        *(github / "ISSUE_TEMPLATE").iterdir(),
        *FOLDER.glob("*.yaml"),
        github / "dependabot.yml",
        ROOT / "meltano.yml",
        ROOT / "plugin.yaml",
    ]
    assert {str(path.relative_to(ROOT)) for path in files} <= CHECKED
    assert ".github" in CHECKED
    assert "lint" in TOX["env_list"]
