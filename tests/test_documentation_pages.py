"""What the pages for users name is there, and what they quote is said."""

import ast
import re
import tomllib
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import pytest
import yaml

from tests.support.pages import ROOT, blocks, section, tables

PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        *sorted(ROOT.glob("docs/**/*.md")),
        *sorted(ROOT.glob(".github/*.md")),
    )
}
MELTANO = yaml.safe_load((ROOT / "meltano.yml").read_text(encoding="utf-8"))
PLUGINS: dict[str, dict[str, Any]] = {}
for _plugins in MELTANO["plugins"].values():
    PLUGINS.update((plugin["name"], plugin) for plugin in _plugins)
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
TOX = PYPROJECT["tool"]["tox"]

each_page = pytest.mark.parametrize("page", PAGES)


def anchors(text: str) -> set[str]:
    """Return the places of a page that can be linked to, as GitHub names them."""
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


def test_ci_runs_the_test_command_of_readme() -> None:
    (command,) = blocks(section(ROOT / "README.md", "## Run the tests"), "sh")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert script[-2:] == [command.strip(), "uvx --with tox-uv tox -e recipes"]


def test_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\((docs/[^)#]+)", PAGES["README.md"]))
    assert {page for page in PAGES if re.fullmatch("docs/[^/]+", page)} <= linked


@each_page
def test_commands_name_what_is_there(page: str) -> None:
    added = set(re.findall(r"--inherit-from tap-leadintent (\S+)", PAGES[page]))
    added |= set(re.findall(r"meltano job add (\S+)", PAGES[page]))
    lines = "".join(blocks(PAGES[page], "sh")).splitlines()
    for line in lines:
        words = line.partition(" 2>")[0].replace(" --store=dotenv", "").split()
        if words[:3] == ["meltano", "config", "set"] and words[3] != "meltano":
            plugin = PLUGINS["tap-leadintent" if words[3] in added else words[3]]
            known = [setting["name"] for setting in plugin["settings"]]
            # What begins so is an extra of Meltano, such as `_schema`.
            assert words[4] in known or words[4].startswith("_"), words
        if "run" in words and "meltano" in words[: words.index("run")]:
            plugins = [w for w in words[words.index("run") + 1 :] if w[0] != "-"]
            assert set(plugins) <= PLUGINS.keys() | added, words
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


def test_the_tap_says_what_troubleshooting_quotes() -> None:
    texts: list[str] = []
    for path in (ROOT / "tap_leadintent").rglob("*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(module):
            match node:
                case ast.Constant(value=str(text)):
                    texts.append(text)
    quotes = re.findall(r"\*\*`([^`]+)`\*\*", PAGES["docs/troubleshooting.md"])
    parts: set[str] = set()
    for quote in quotes:
        parts |= {*quote.split("…")}
    assert len(parts) > 10
    for part in parts:
        assert any(part in text for text in texts), part


def test_the_chart_shows_the_table_of_its_page() -> None:
    picture = (ROOT / "docs" / "speed.svg").read_text(encoding="utf-8")
    rows = tables(PAGES["docs/speed.md"])[0]
    seconds = [f"{row['Seconds']} s" for row in rows]
    names = [row["Client"].replace("`", "") for row in rows]
    assert re.findall("<text.*>(.+)</text>", picture) == seconds + names
