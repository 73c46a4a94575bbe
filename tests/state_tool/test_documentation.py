"""What the pages say of the command is what it does."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from tap_leadintent.state_tool.cli import main
from tests.support.states import run

ROOT = Path(__file__).parents[2]
NAME = "tap-leadintent-state"
PAGE = (ROOT / "docs/state.md").read_text(encoding="utf-8")
PAGES = [
    path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
]
FILES = dict(re.findall(r"`(\w+\.json)`:\n\n```json\n(.*?)```", PAGE, re.DOTALL))
SESSIONS = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
INDENTED = " | python3 -m json.tool"
IN_PIPES = {
    part.strip()
    for text in PAGES
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
    for part in line.split("|")
    if NAME in part
}


def test_every_command_is_shown() -> None:
    shown = {command for session in SESSIONS for command in _commands(session)}
    assert {shlex.split(each)[1] for each in shown} == main.commands.keys()


def _commands(session: str) -> list[str]:
    """Give the commands as they are typed, some of them in several lines."""
    return re.findall(r"^\$ ((?:.*\\\n> )*.*)$", session, re.MULTILINE)


def test_commands_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert FILES.keys() >= {"state.json", "config.json"}
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    for session in SESSIONS:
        assert _played(session) == session


def _played(session: str) -> str:
    played = ""
    for command in _commands(session):
        words, _, target = command.replace("\\\n> ", "").partition(" > ")
        program, *arguments = shlex.split(words.removesuffix(INDENTED))
        assert program == NAME
        result = run(*arguments)
        played += f"$ {command}\n"
        if target:
            assert result.exit_code == 0, result.output
            Path(target).write_text(result.stdout, encoding="utf-8")
        elif words.endswith(INDENTED):
            played += f"{json.dumps(json.loads(result.stdout), indent=4)}\n"
        else:
            played += result.output
    return played


@pytest.mark.parametrize("line", sorted(IN_PIPES))
def test_what_stands_in_pipes_has_the_options_that_there_are(line: str) -> None:
    program, name, *arguments = shlex.split(line)
    assert program == NAME
    command = main.commands[name]
    parsed = command.make_context(name, arguments)
    assert parsed.params["state"] == "-"


def test_meltano_offers_the_command_as_the_pages_say() -> None:
    project = yaml.safe_load((ROOT / "meltano.yml").read_text(encoding="utf-8"))
    (tap,) = project["plugins"]["extractors"]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert tap["commands"]["state"]["executable"] in scripts["project"]["scripts"]
    named = re.findall(rf"meltano invoke {tap['name']}:(\w+)", "".join(PAGES))
    assert set(named) == {"state"}


def test_each_option_is_described() -> None:
    for command in main.commands.values():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert any(each in PAGE for each in parameter.opts), parameter.opts
