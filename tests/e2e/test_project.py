"""From an empty folder to rows in PostgreSQL, with the lines that the pages show."""

import os
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
import yaml

from tap_leadintent.definitions import FOLDER
from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.sandbox import Sandbox
from tests.e2e.test_targets import assert_tables_hold
from tests.support.clones import Repository
from tests.support.helpers import API_KEY, STREAMS
from tests.support.pages import README, ROOT, SCRIPTS, section, shell_blocks, typed
from tests.support.postgres import tables_of

STATE = shell_blocks((ROOT / "docs/state.md").read_text(encoding="utf-8"))
PLAN, FORGET = STATE[0], STATE[2]
BUILD, FIRST, _SHARED, REBUILD, UPGRADE = shell_blocks(
    section(README, "## In your project")
)
TYPED, _ = shell_blocks(
    section(ROOT / "docs/columns.md", "## Typed columns for undocumented streams")
)
(MASKED,) = shell_blocks(section(ROOT / "docs/columns.md", "## Masking"))
(SELECTED,) = shell_blocks(section(ROOT / "docs/recipes.md", "## Only some streams"))
LOGGED = 'import sys\nprint("This is the newer code.", file=sys.stderr)\n'
# A run without them would be one of another definition.
SOME_DEFAULTS = {"load_method": "upsert", "use_copy": True, "validate_records": False}


class Shell:
    """A shell that has uv, and nothing else that the project needs."""

    def __init__(self, folder: Path, **variables: str) -> None:
        path = os.environ["PATH"].split(os.pathsep)
        programs = folder / "programs"
        self.project = folder / "leads"
        self._folder = folder
        self._env = {
            "PATH": os.pathsep.join(
                [str(programs), *(each for each in path if each != SCRIPTS)]
            ),
            "UV_TOOL_BIN_DIR": str(programs),
            "UV_TOOL_DIR": str(folder / "tools"),
            **variables,
        }
        self.repository = Repository(folder / "repository")
        self.repository.git("clone", ".", str(folder / "clone"))
        built = self(f'cd {folder / "clone"}\n{BUILD}printf %s "$UV_FIND_LINKS"')
        self._env["UV_FIND_LINKS"] = built

    def __call__(self, lines: str) -> str:
        """Type lines, one after the other; each must succeed."""
        folder = self.project if self.project.exists() else self._folder
        return typed(lines, folder, **self._env)

    def plugin(self, kind: str) -> dict[str, Any]:
        """Give the one plugin of a kind that the project has."""
        text = (self.project / "meltano.yml").read_text(encoding="utf-8")
        (plugin,) = yaml.safe_load(text)["plugins"][kind]
        return dict(plugin)


@pytest.mark.long
def test_the_lines_of_readme_fill_a_warehouse(
    sandbox: Sandbox, postgres: Postgres, tmp_path: Path
) -> None:
    sizes = {**dict.fromkeys(STREAMS, 30), "leads": 150}
    sandbox.configure(api_key=API_KEY, since="2026-01-02T00:00:00Z", sizes=sizes)
    # What Meltano finds in the environment goes before what the lines set.
    shell = Shell(
        tmp_path,
        TAP_LEADINTENT_BASE_URL=sandbox.url,
        TAP_LEADINTENT_API_KEY=API_KEY,
        TARGET_POSTGRES_SQLALCHEMY_URL=postgres.url,
    )
    shell(FIRST)

    tables = tables_of(postgres, "tap_leadintent")
    assert {name: len(rows) for name, rows in tables.items()} == sizes
    assert_tables_hold(tables, sandbox)
    set_there: dict[str, Any] = {
        "base_url": "https://api.example.com",
        "start_date": "2026-01-01",
    }
    assert shell.plugin("extractors")["config"] == set_there
    loader = {s["name"]: s.get("value") for s in shell.plugin("loaders")["settings"]}
    assert loader.items() >= SOME_DEFAULTS.items()
    with pytest.raises(AssertionError, match="Invalid JSON"):
        shell(FORGET.replace("2026-05-03", "soon"))
    plan = shell(PLAN)
    assert "lookback" in plan
    assert "first load" not in plan
    assert "not read yet" not in plan
    shell(FORGET)
    forgotten = "2026-05-03T00:00:00Z to 2026-05-04T00:00:00Z: not read yet"
    assert f"leads\n  date_found from {forgotten}" in shell(PLAN)

    shell(TYPED)
    inferred = shell.plugin("extractors")["schema"]
    assert inferred.keys() == set(STREAMS) - {"signal_agents", "leads"}
    assert inferred["observations"]["confidence"] == {"type": ["number", "null"]}
    # One stream alone, masked.
    shell(MASKED + SELECTED.replace(" leads ", " monitored_leads "))
    known = {"id": "known", "email": "ada@example.com"}
    sandbox.insert("monitored_leads", known, activity_at=sandbox.now())
    done = shell("meltano run --full-refresh tap-leadintent target-postgres")
    assert "1 stream, 31 records" in done
    masked = tables_of(postgres, "tap_leadintent")["monitored_leads"]["known"]
    assert masked["email"] == md5(b"ada@example.com").hexdigest()  # noqa: S324
    assert not masked["additional_properties"]
    set_there = shell.plugin("extractors")["config"]

    # A definition of old: with a setting that is gone, and without one that is new.
    path = shell.project / "meltano.yml"
    text = path.read_text(encoding="utf-8")
    older = text.replace("name: lookback_minutes", "name: lookback_hours")
    assert older != text
    path.write_text(older, encoding="utf-8")
    # A newer commit, whose code writes another line to the log.
    changed = shell.repository.folder / "tap_leadintent/tap.py"
    changed.write_text(f"{changed.read_text(encoding='utf-8')}{LOGGED}")
    shell.repository.commit()
    shell(f"cd {tmp_path / 'clone'}\n{REBUILD}")
    shell(UPGRADE)
    now = yaml.safe_load((FOLDER / "tap-leadintent.yaml").read_text(encoding="utf-8"))
    assert shell.plugin("extractors")["settings"] == now["settings"]
    assert ".post2+g" in shell.plugin("extractors")["pip_url"]
    assert shell.plugin("extractors")["config"] == set_there
    log = shell("meltano run tap-leadintent target-postgres")
    assert "This is the newer code." in log
