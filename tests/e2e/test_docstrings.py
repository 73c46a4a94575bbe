"""What users import has an example in its docstring, and each example runs."""

import doctest
import importlib
from pathlib import Path

import pytest

import tap_leadintent
from tap_leadintent import replication
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.plan import Scope
from tap_leadintent.sandbox import client
from tap_leadintent.tap import TapLeadIntent

PACKAGE = Path(tap_leadintent.__file__).parent


def modules_with_examples() -> list[str]:
    names: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            name = path.relative_to(PACKAGE.parent).with_suffix("")
            names.append(".".join(name.parts).removesuffix(".__init__"))
    return names


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(name)
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed, capsys.readouterr().out


@pytest.mark.parametrize(
    "public",
    [
        TapLeadIntent,
        client.Sandbox,
        client.running_sandbox,
        Bookmark,
        Scope,
    ],
)
def test_what_users_import_has_an_example(public: object) -> None:
    assert doctest.DocTestParser().get_examples(public.__doc__ or "")


def test_replication_has_an_example_of_a_run() -> None:
    examples = doctest.DocTestParser().get_examples(replication.__doc__ or "")
    assert any("ReplicationRun(" in example.source for example in examples)
