"""What the pages for users name is there, and what they quote is said."""

import ast
import re
import tomllib
from importlib.util import find_spec
from itertools import pairwise

import pytest
import yaml

from tests.support.helpers import Json, lines_with, where
from tests.support.pages import ROOT, blocks, section, tables, text_of

PAGES: dict[str, str] = {}
for _path in (
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob(".github/*.md")),
):
    _name = str(_path.relative_to(ROOT))
    PAGES[_name] = text_of(_name)
MELTANO = yaml.safe_load(text_of("meltano.yml"))
PLUGINS: dict[str, Json] = {}
for _plugins in MELTANO["plugins"].values():
    for _plugin in _plugins:
        PLUGINS[_plugin["name"]] = _plugin
PYPROJECT = tomllib.loads(text_of("pyproject.toml"))
PROJECT = PYPROJECT["project"]
TOX = PYPROJECT["tool"]["tox"]

each_page = pytest.mark.parametrize("page", PAGES)


def anchors(text: str) -> set[str]:
    """Return the places of a page that can be linked to, as GitHub names them."""
    found = set()
    for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"[^\w -]", "", title)
        found.add(words.lower().replace(" ", "-"))
    return found


@each_page
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", PAGES[page]):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        path = ROOT / page
        if name:
            path = path.parent.joinpath(name).resolve()
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), target


def test_ci_runs_the_test_command_of_readme() -> None:
    (command,) = blocks(section(ROOT / "README.md", "## Run the tests"), "sh")
    script = text_of(".ci/run").splitlines()
    assert script[-2:] == [
        command.strip(),
        "uvx --with tox-uv tox -e recipes",
    ]


def test_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\((docs/[^)#]+)", PAGES["README.md"]))
    for page in PAGES:
        if re.fullmatch("docs/[^/]+", page):
            assert page in linked


def assert_is_there(words: list[str], added: set[str]) -> None:
    """Assert that what a command names is there, or was added on the same page."""
    if words[:3] == ["meltano", "config", "set"] and words[3] != "meltano":
        name, setting = words[3:5]
        plugin = PLUGINS["tap-leadintent" if name in added else name]
        # What begins so is an extra of Meltano, such as `_schema`.
        is_extra = setting.startswith("_")
        assert is_extra or where(plugin["settings"], name=setting), words
    if "run" in words:
        place = words.index("run")
        if "meltano" in words[:place]:
            for word in words[place + 1 :]:
                is_option = word[0] == "-"
                assert is_option or word in PLUGINS or word in added, words
    if "tox" in words and "-e" in words:
        environment = words[words.index("-e") + 1]
        assert environment in TOX["env"], words
    if "-m" in words:
        module = words[words.index("-m") + 1]
        assert module in {"venv", "pytest"} or find_spec(module), words
    for before, word in pairwise(["|", *words]):
        if before in {"|", "&&"} and word.startswith("tap-leadintent"):
            assert word in PROJECT["scripts"], words


@each_page
def test_commands_name_what_is_there(page: str) -> None:
    text = PAGES[page]
    added = set(re.findall(r"--inherit-from tap-leadintent (\S+)", text))
    added |= set(re.findall(r"meltano job add (\S+)", text))
    lines = "".join(blocks(text, "sh")).splitlines()
    for line in lines:
        command, _, _ = line.partition(" 2>")
        command = command.replace(" --store=dotenv", "")
        assert_is_there(command.split(), added)
    extras = re.findall(r"tap-leadintent\[(\w+)\]", text)
    extras += re.findall(r"--extra (\w+)", text)
    for extra in extras:
        assert extra in PROJECT["optional-dependencies"]


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
        assert lines_with(part, texts), part


def test_the_chart_shows_the_table_of_its_page() -> None:
    picture = text_of("docs/speed.svg")
    seconds = []
    names = []
    table, *_ = tables(PAGES["docs/speed.md"])
    for row in table:
        seconds.append(f"{row['Seconds']} s")
        names.append(row["Client"].replace("`", ""))
    assert re.findall("<text.*>(.+)</text>", picture) == seconds + names
