"""The definitions for `meltano add` are those of `meltano.yml`."""

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tap_leadintent import definitions
from tap_leadintent.definitions import FOLDER
from tests.support.pages import ROOT
from tests.support.plugin_definitions import PLUGIN, generated_files

GENERATED = generated_files()


@pytest.mark.parametrize(
    "path", GENERATED, ids=[str(p.relative_to(ROOT)) for p in GENERATED]
)
def test_generated_files_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == GENERATED[path]
    assert GENERATED.keys() == {PLUGIN, *FOLDER.glob("*.yaml")}


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
