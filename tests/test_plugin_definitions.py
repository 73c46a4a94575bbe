"""The definitions for `meltano add` are those of `meltano.yml`."""

import sys
from importlib.metadata import version

import pytest

from tap_leadintent import definitions
from tap_leadintent.definitions import FOLDER
from tests.support.plugin_definitions import PLUGIN, generated_files

GENERATED = generated_files()


def test_generated_files_are_current() -> None:
    paths = [PLUGIN, *FOLDER.glob("*.yaml")]
    assert {path: path.read_text(encoding="utf-8") for path in paths} == GENERATED


def test_the_command_prints_definitions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unpinned = "\npip_url: tap-leadintent\n"
    pinned = f"\npip_url: tap-leadintent=={version('tap-leadintent')}\n"
    for name in ("target-jsonl", "tap-leadintent"):
        monkeypatch.setattr(sys, "argv", ["tap-leadintent-definition", name])
        definitions.main()
        expected = GENERATED[FOLDER / f"{name}.yaml"].replace(unpinned, pinned)
        assert capsys.readouterr().out == expected
    monkeypatch.setattr(sys, "argv", ["tap-leadintent-definition", "target-x"])
    with pytest.raises(SystemExit, match="2"):
        definitions.main()
    assert "target-postgres" in capsys.readouterr().err
