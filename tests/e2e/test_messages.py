"""All that the tap says to people, as it is said at the command line."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.support.helpers import API_KEY, enter, final_error, prefixed
from tests.support.messages import MESSAGES
from tests.support.messages.message import SANDBOX

if TYPE_CHECKING:
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.messages import Message

pytestmark = pytest.mark.usefixtures("bare_environment")

ALL = [message for section in MESSAGES.values() for message in section]


def command(message: Message, sandbox: Sandbox, folder: Path) -> list[str]:
    """Write the files that lead to a message, and give the command line."""
    config = {"base_url": sandbox.url, "api_key": API_KEY, **message.config}
    files = {
        "--config": json.dumps(
            {name: value for name, value in config.items() if value is not None}
        ),
        **message.files,
    }
    files["--config"] = files["--config"].replace(SANDBOX, urlsplit(sandbox.url).netloc)
    if message.catalog:
        files["--catalog"] = json.dumps(message.catalog())
    if message.state is not None:
        files["--state"] = json.dumps(message.state)
    arguments = [*message.arguments]
    for option, text in files.items():
        path = folder / f"{option.strip('-')}.json"
        path.write_text(text, encoding="utf-8")
        arguments += [option, str(path)]
    return arguments


PLAYED = [message for message in ALL if not message.seen_by]


@pytest.mark.parametrize("message", PLAYED, ids=[message.text for message in PLAYED])
def test_a_message_is_said(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: Message
) -> None:
    sandbox.faults(*message.faults)
    if message.lacks:
        monkeypatch.setitem(sys.modules, message.lacks, None)
    variables: Any = {**prefixed(dict(message.variables)), **message.environment}
    result = enter(*command(message, sandbox, tmp_path), env=variables)
    assert result.exit_code == message.code, result.stderr
    assert "Traceback" not in result.stderr
    said = [line.split(" | ", 3) for line in result.stderr.splitlines()]
    at_level = [text for _, level, _, text in said if level.strip() == message.level]
    assert [text for text in at_level if message.is_in(text)], result.stderr
    if message.code:
        final_error(result.stderr)


def test_no_two_messages_are_the_same() -> None:
    assert len({message.text for message in ALL}) == len(ALL)


def test_each_says_why_and_what_to_do() -> None:
    for message in ALL:
        assert message.cause.endswith(".")
        assert message.cure.endswith(".")
