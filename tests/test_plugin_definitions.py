"""The definitions for `meltano add` say what the settings and `meltano.yml` say."""

from tap_leadintent.definitions import FOLDER
from tools.plugin_definitions import PLUGIN, PROJECT, generated_files


def test_generated_files_are_current() -> None:
    generated = generated_files()
    assert generated.keys() == {PLUGIN, PROJECT, *FOLDER.glob("*.yaml")}
    for path, text in generated.items():
        assert path.read_text(encoding="utf-8") == text
