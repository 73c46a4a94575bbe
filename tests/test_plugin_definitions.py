"""The definitions for `meltano add` say what the settings and `meltano.yml` say."""

from tap_leadintent.definitions import FOLDER
from tools.plugin_definitions import PLUGIN, PROJECT, generated_files


def test_generated_files_are_current() -> None:
    paths = [PLUGIN, PROJECT, *FOLDER.glob("*.yaml")]
    assert {path: path.read_text(encoding="utf-8") for path in paths} == (
        generated_files()
    )
