"""`plugin.yaml`, the definitions in the package and `meltano.yml` say the same."""

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tap_leadintent import definitions
from tap_leadintent.definitions import FOLDER
from tests.support.pages import ROOT
from tests.support.plugin_definitions import PLUGIN, made_files

MADE = made_files()


@pytest.mark.parametrize("path", MADE, ids=[str(p.relative_to(ROOT)) for p in MADE])
def test_a_made_file_is_as_it_is_made(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == MADE[path]
    assert MADE.keys() == {PLUGIN, *FOLDER.glob("*.yaml")}


def test_the_command_prints_a_definition_and_knows_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unpinned = "\npip_url: tap-leadintent\n"
    pinned = f"\npip_url: tap-leadintent=={version('tap-leadintent')}\n"
    for name in ("target-jsonl", "tap-leadintent"):
        monkeypatch.setattr(sys, "argv", ["tap-leadintent-definition", name])
        definitions.main()
        expected = MADE[FOLDER / f"{name}.yaml"].replace(unpinned, pinned)
        assert capsys.readouterr().out == expected
    monkeypatch.setattr(sys, "argv", ["tap-leadintent-definition", "target-x"])
    with pytest.raises(SystemExit, match="2"):
        definitions.main()
    assert "target-postgres" in capsys.readouterr().err
