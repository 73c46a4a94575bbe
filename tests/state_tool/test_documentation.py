"""The pages show commands that exist, with what they print."""

import re
import shlex
from pathlib import Path

from tests.support.pages import ROOT
from tests.support.states import run

PAGE = (ROOT / "docs/state.md").read_text(encoding="utf-8")


def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    files = re.findall(r"`(\w+\.json)`:\n\n```json\n(.*?)```", PAGE, re.DOTALL)
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    sessions = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    assert len(files) == len(sessions) == 2
    for session in sessions:
        command, _, printed = session.replace("\\\n> ", "").partition("\n")
        assert command.startswith("$ tap-leadintent-state ")
        arguments = []
        for word in shlex.split(command)[2:]:
            is_file = word.endswith(".json")
            arguments.append(str(tmp_path / word) if is_file else word)
        assert run(*arguments).output == printed
