"""What the pages for users name is there, and they are as short as they should be."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (
        *(ROOT / "README.md", ROOT / "CHANGELOG.md"),
        *sorted(ROOT.glob("docs/**/*.md")),
        *sorted(ROOT.glob(".github/*.md")),
    )
}
PLUGINS: dict[str, dict[str, Any]] = {
    plugin["name"]: plugin
    for plugins in yaml.safe_load((ROOT / "meltano.yml").read_text(encoding="utf-8"))[
        "plugins"
    ].values()
    for plugin in plugins
}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, TOX = PYPROJECT["project"], PYPROJECT["tool"]["tox"]

each_page = pytest.mark.parametrize("page", PAGES)


def commands(text: str) -> list[list[str]]:
    """Give the words of each line of the page's shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line.split() for block in blocks for line in block.splitlines()]


def plugins_of(text: str) -> dict[str, dict[str, Any]]:
    """Give the project's plugins, and those of a page that inherit from them."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    added = [
        plugin
        for block in blocks
        if "inherit_from" in block
        for plugin in yaml.safe_load(block)["plugins"]["extractors"]
    ]
    heirs = {each["name"]: PLUGINS[each["inherit_from"]] for each in added}
    return {**PLUGINS, **heirs}


def anchors(text: str) -> set[str]:
    """Give the places of a page that can be linked to, as GitHub names them."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@each_page
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", PAGES[page]):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent.joinpath(name).resolve() if name else ROOT / page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), target


@each_page
def test_commands_name_what_is_there(page: str) -> None:
    plugins = plugins_of(PAGES[page])
    for words in commands(PAGES[page]):
        if words[:3] == ["meltano", "config", "set"]:
            known = [setting["name"] for setting in plugins[words[3]]["settings"]]
            # What begins so is an extra of Meltano, such as `_schema`.
            assert words[4] in known or words[4].startswith("_"), words
        if "run" in words and "meltano" in words[: words.index("run")]:
            told = [w for w in words[words.index("run") + 1 :] if w[0] != "-"]
            assert told, words
            assert set(told) <= plugins.keys(), words
        if "tox" in words and "-e" in words:
            assert words[words.index("-e") + 1] in TOX["env"], words
        if "-m" in words and words[words.index("-m") + 1] not in {"venv", "pytest"}:
            assert find_spec(words[words.index("-m") + 1]), words
        for before, word in pairwise(["|", *words]):
            if before in {"|", "&&"} and word.startswith("tap-leadintent"):
                assert word in PROJECT["scripts"], words
    extras = re.findall(r"tap-leadintent\[(\w+)\]|--extra (\w+)", PAGES[page])
    named = {first or second for first, second in extras}
    assert named <= PROJECT["optional-dependencies"].keys()


def test_each_loader_has_its_place() -> None:
    titles = re.findall(r"^## (.+)$", PAGES["docs/warehouses.md"], re.MULTILINE)
    loaders = [name for name in PLUGINS if name.startswith("target-")]
    assert len(loaders) > 2
    assert {PLUGINS[name]["label"] for name in loaders} <= set(titles)


def test_environments_beside_the_default_command_are_described() -> None:
    beside = TOX["env"].keys() - set(TOX["env_list"])
    assert beside
    for name in beside:
        assert any(f"tox -e {name}" in text for text in PAGES.values()), name


@pytest.mark.parametrize(
    ("pages", "most"),
    [
        ("README.md", 700),
        ("docs/columns.md", 500),
        ("docs/warehouses.md", 1100),
        ("docs/tables.md", 1300),
        ("docs/recipes.md docs/scaling.md", 900),
        ("docs/versions.md", 200),
        ("docs/settings.md", 450),
        ("docs/troubleshooting.md", 1200),
    ],
)
def test_a_page_is_short(pages: str, most: int) -> None:
    assert sum(len(PAGES[page].split()) for page in pages.split()) <= most


def test_the_page_and_the_dag_have_the_same_steps() -> None:
    dag = (ROOT / "docs/examples/airflow/leadintent_backfill.py").read_text("utf-8")
    tasks = re.findall(r"^    def (\w+)\(", dag, re.MULTILINE)
    steps = re.findall(
        r"^\d\. \*\*([\w ]+)\*\*", PAGES["docs/scaling.md"], re.MULTILINE
    )
    words = [step.lower().replace(" the", "").replace(" ", "_") for step in steps]
    assert words == tasks


def test_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\((docs/[^)#]+)", PAGES["README.md"]))
    own = {page for page in PAGES if page.startswith("docs/")}
    nested = {page for page in own if page.count("/") > 1}
    assert own - nested <= linked


def configs(value: Any) -> Iterator[dict[str, Any]]:
    """Give what a block of YAML sets of the tap."""
    if isinstance(value, list):
        for item in value:
            yield from configs(item)
    elif isinstance(value, dict):
        name = value.get("name", "tap-leadintent")
        if name == "tap-leadintent" and "config" in value:
            yield value["config"]
        for inner in value.values():
            yield from configs(inner)


@each_page
def test_the_tap_takes_what_blocks_of_yaml_set(page: str) -> None:
    for block in re.findall(
        r"^```yaml\n(.*?)^```", PAGES[page], re.DOTALL | re.MULTILINE
    ):
        for config in configs(yaml.safe_load(block)):
            TapLeadIntent(config={**VALID, **config}).setup_mapper()
