"""The project that the demo leaves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tap_leadintent.definitions import FOLDER
from tap_leadintent.demo import project

if TYPE_CHECKING:
    from pathlib import Path


class Installed:
    """A distribution that says where it came from."""

    def __init__(self, origin: object) -> None:
        self.origin = origin

    def read_text(self, _name: str) -> str | None:
        return json.dumps(self.origin) if self.origin else None


def written(folder: Path) -> dict[str, Any]:
    project.write_project(folder, "demo", "2025-06-01")
    text = (folder / "meltano.yml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("origin", "package"),
    [
        (None, "tap-leadintent==0.1.0"),
        ({"url": "file:///a%20b/x.whl"}, "tap-leadintent@file:///a%20b/x.whl"),
        ({"url": "file:///a%20b", "dir_info": {"editable": True}}, "-e '/a b'"),
        (
            {"url": "https://a.b/c", "vcs_info": {"vcs": "git", "commit_id": "1f"}},
            "tap-leadintent@git+https://a.b/c@1f",
        ),
    ],
)
def test_the_tap_comes_from_where_the_demo_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: object, package: str
) -> None:
    monkeypatch.setattr(project, "distribution", lambda _name: Installed(origin))
    (tap,) = written(tmp_path)["plugins"]["extractors"]
    assert tap["pip_url"] == package


def test_the_plugins_are_as_their_definitions_say(tmp_path: Path) -> None:
    plugins = written(tmp_path)["plugins"]
    for plugin in (*plugins["extractors"], *plugins["loaders"]):
        text = (FOLDER / f"{plugin['name']}.yaml").read_text(encoding="utf-8")
        definition = yaml.safe_load(text)
        assert plugin | {"pip_url": definition["pip_url"]} == definition


def test_what_the_demo_loads_is_apart_from_what_comes_later(tmp_path: Path) -> None:
    own, demo = written(tmp_path)["environments"]
    assert own == {"name": "dev"}
    (loader,) = demo["config"]["plugins"]["loaders"]
    assert loader["config"] == {"default_target_schema": "demo"}
    ignored = (tmp_path / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".env", "postgres/", ".meltano/"} <= set(ignored)
