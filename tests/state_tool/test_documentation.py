"""The pages show commands that exist, with what they print."""

import re
import shlex
from pathlib import Path

from tap_leadintent.state_tool.cli import main
from tests.support.pages import README, ROOT, shell_blocks
from tests.support.states import run

NAMES = ("tap-leadintent-state", "meltano invoke tap-leadintent:state")
PAGE = (ROOT / "docs/state.md").read_text(encoding="utf-8")
PAGES = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")]


def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    files = re.findall(r"`(\w+\.json)`:\n\n```json\n(.*?)```", PAGE, re.DOTALL)
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    sessions = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    assert len(files) == len(sessions) == 2
    for session in sessions:
        command, _, printed = session.replace("\\\n> ", "").partition("\n")
        assert command.startswith(f"$ {NAMES[0]} ")
        words = shlex.split(command)[2:]
        arguments = [str(tmp_path / w) if w.endswith(".json") else w for w in words]
        assert run(*arguments).output == printed


def test_the_pages_use_options_that_exist() -> None:
    commands = [
        shlex.split(part.strip().removeprefix(name))
        for text in [README.read_text(encoding="utf-8"), *PAGES]
        for block in shell_blocks(text)
        for line in block.replace("\\\n", "").splitlines()
        for part in line.split("|")
        for name in NAMES
        if part.strip().startswith(f"{name} ")
    ]
    for name, *arguments in commands:
        main.commands[name].make_context(name, arguments)
    assert {name for name, *_ in commands} == {"plan", "forget", "join"}
