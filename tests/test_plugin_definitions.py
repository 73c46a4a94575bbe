"""`plugin.yaml`, the definitions in the package and `meltano.yml` say the same."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tap_leadintent import definitions
from tap_leadintent.definitions import FOLDER
from tests.support.plugin_definitions import PLUGIN, ROOT, TAP, made_files

if TYPE_CHECKING:
    from pathlib import Path

MADE = made_files()
PROJECT: dict[str, Any] = yaml.safe_load((ROOT / "meltano.yml").read_text("utf-8"))
PLUGINS = {
    plugin["name"]: (kind, plugin)
    for kind, plugins in PROJECT["plugins"].items()
    for plugin in plugins
}

each_plugin = pytest.mark.parametrize("name", PLUGINS)


def definition(name: str) -> dict[str, Any]:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


@pytest.mark.parametrize("path", MADE, ids=[str(p.relative_to(ROOT)) for p in MADE])
def test_a_made_file_is_as_it_is_made(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == MADE[path]


def test_every_plugin_has_a_definition_and_no_other_has() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == PLUGINS.keys()
    assert yaml.safe_load(PLUGIN.read_text(encoding="utf-8")) == definition(TAP)


@each_plugin
def test_what_the_project_sets_are_defaults(name: str) -> None:
    _, plugin = PLUGINS[name]
    values = {s["name"]: s.get("value") for s in definition(name)["settings"]}
    for setting in plugin["settings"]:
        given = plugin.get("config", {}).get(setting["name"], setting.get("value"))
        assert values[setting["name"]] == given


@each_plugin
def test_all_that_a_definition_says_is_taken(name: str) -> None:
    dropped = {"config", "select", "dialect"}
    _, plugin = PLUGINS[name]
    assert definition(name).keys() == plugin.keys() - dropped
    # What is dropped of the tap is what there is without it.
    assert plugin.get("select", ["*.*"]) == ["*.*"]


def test_the_tap_is_installed_by_its_name_and_version() -> None:
    assert PLUGINS[TAP][1]["pip_url"] == "-e ."
    (version,) = (
        line.partition(" = ")[2].strip('"')
        for line in (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
        if line.startswith("version = ")
    )
    assert definition(TAP)["pip_url"] == f"{TAP}=={version}"


@each_plugin
def test_the_command_prints_a_definition(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tap-leadintent-definition", name])
    definitions.main()
    assert yaml.safe_load(capsys.readouterr().out) == definition(name)


def test_the_command_knows_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tap-leadintent-definition", "target-x"])
    with pytest.raises(SystemExit, match="2"):
        definitions.main()
    assert "target-postgres" in capsys.readouterr().err
