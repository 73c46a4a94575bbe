"""What the pages for users name is there, and what they quote is said."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import pytest
import yaml

from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID
from tests.support.pages import ROOT, shell_blocks

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


def yaml_blocks(text: str) -> list[Any]:
    blocks = re.findall(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [yaml.safe_load(block) for block in blocks]


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


def test_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\((docs/[^)#]+)", PAGES["README.md"]))
    assert {page for page in PAGES if re.fullmatch("docs/[^/]+", page)} <= linked


@each_page
def test_commands_name_what_is_there(page: str) -> None:
    added = set(re.findall(r"- name: (\S+)\n +inherit_from", PAGES[page]))
    lines = "".join(shell_blocks(PAGES[page])).splitlines()
    for words in map(str.split, lines):
        if words[:3] == ["meltano", "config", "set"]:
            plugin = PLUGINS["tap-leadintent" if words[3] in added else words[3]]
            known = [setting["name"] for setting in plugin["settings"]]
            # What begins so is an extra of Meltano, such as `_schema`.
            assert words[4] in known or words[4].startswith("_"), words
        if "run" in words and "meltano" in words[: words.index("run")]:
            told = [w for w in words[words.index("run") + 1 :] if w[0] != "-"]
            assert set(told) <= PLUGINS.keys() | added, words
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
    for block in yaml_blocks(PAGES[page]):
        for config in configs(block):
            TapLeadIntent(config={**VALID, **config}).setup_mapper()


def test_the_tap_says_what_troubleshooting_quotes() -> None:
    texts = [
        node.value
        for path in (ROOT / "tap_leadintent").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    quotes = re.findall(r"\*\*`([^`]+)`\*\*", PAGES["docs/troubleshooting.md"])
    parts = {part for quote in quotes for part in quote.split("…")}
    assert len(parts) > 20
    assert not [part for part in parts if not any(part in text for text in texts)]


@pytest.mark.parametrize(
    ("pages", "most"),
    [
        ("README.md", 800),
        ("docs/columns.md", 500),
        ("docs/warehouses.md", 1100),
        ("docs/tables.md", 1300),
        ("docs/recipes.md docs/scaling.md", 1600),
        ("docs/versions.md", 300),
        ("docs/settings.md", 450),
        ("docs/troubleshooting.md", 1200),
        ("docs/runs.md", 1100),
        ("docs/state.md", 700),
        ("docs/sandbox.md", 450),
        ("docs/design.md", 1300),
        ("docs/speed.md", 500),
    ],
)
def test_a_page_is_short(pages: str, most: int) -> None:
    assert sum(len(PAGES[page].split()) for page in pages.split()) <= most
