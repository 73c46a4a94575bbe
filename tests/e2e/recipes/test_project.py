"""The lines of the pages, each page in a Meltano project of its own."""

import json
import re
import shutil

import pytest
import yaml

from tap_leadintent.definitions import FOLDER
from tests.support.clones import Repository, serving_another_package
from tests.support.helpers import API_KEY, STREAMS, where
from tests.support.pages import README, ROOT, blocks, section
from tests.support.rows import expected_rows
from tests.support.walk import DOCS, RUN, SIZES, Walk, lines_of

pytestmark = pytest.mark.long
LOGGED = 'import sys\nprint("This is the newer code.", file=sys.stderr)\n'
# A run without them would be one of another definition.
SOME_DEFAULTS = {
    "load_method": "upsert",
    "use_copy": True,
    "validate_records": False,
}


ADD_ALL = "git init --quiet && git add --all && git ls-files"


def test_readme(walk: Walk) -> None:
    repository = Repository(walk.shell.folder / "repository")
    shutil.copy(ROOT / "uv.lock", repository.folder)
    repository.commit()
    repository.git(
        "clone",
        ".",
        str(walk.shell.folder / "clone"),
    )
    (lines,) = blocks(section(README, "## With your key"), "sh")
    # It fails if there is something to do, which does not keep a reader from going on.
    lines = lines.replace("-check\n", "-check || true\n")
    printed = walk.shell(lines, folder="clone")
    assert "May the key read it? yes" in printed
    assert "150 records" in printed
    output = (walk.shell.folder / "clone/output").iterdir()
    assert {path.name.partition("-")[0] for path in output} == {*STREAMS}
    *settings, _check, _folder, load = lines.splitlines()
    refused = [
        "export TAP_LEADINTENT_API_KEY=of-somebody-else",
        f"{load} || echo failed",
    ]
    printed = walk.shell(*settings, *refused, folder="clone")
    assert printed.endswith("\nfailed\n"), "a pipe hides what fails in its middle"


def test_install(new_walk: Walk) -> None:
    walk = new_walk
    shell = new_walk.shell
    (_, first, _new_terminal) = lines_of("install.md", "## A new project")
    # It fails if there is something to do, which does not keep a reader from going on.
    shell(first.replace(":check\n", ":check || true\n"))
    tables = walk.tables()
    assert tables.keys() == SIZES.keys()
    for stream in STREAMS:
        assert len(tables[stream]) == SIZES[stream]
        assert tables[stream] == expected_rows(walk.sandbox, stream)
    config = {
        "base_url": walk.sandbox.url,
        "start_date": "2026-01-01",
    }
    assert shell.config() == config
    loader = shell.plugin("loaders")
    assert "config" not in loader, "its address is a secret"
    for name, default in SOME_DEFAULTS.items():
        (setting,) = where(loader["settings"], name=name)
        assert setting.get("value") == default
    for query in lines_of("tables.md", "", "sql"):
        assert len(walk.ask(query)) >= 5


def test_upgrade(walk: Walk) -> None:
    shell = walk.shell
    repository = Repository(shell.folder / "repository")
    repository.git(
        "clone",
        ".",
        str(shell.folder / "clone"),
    )
    # As in the terminal of an earlier build. The build removes this folder first.
    packages = shell.folder / "clone/dist"
    packages.mkdir()
    shell.variables["UV_FIND_LINKS"] = str(packages)
    # It replaces the plugin, in a folder that no other test uses.
    (shell.project / ".meltano/extractors/tap-leadintent").unlink()
    # A definition of old, with a setting that is gone, and an extra.
    project = shell.file()
    config = shell.config()
    extractor = project["plugins"]["extractors"][0]
    extractor["settings"][0]["name"] = "a_setting_of_old"
    pip_url = extractor["pip_url"]
    extractor["pip_url"] = pip_url.replace("leadintent", "leadintent[faker]")
    shell.write(project)
    # A newer commit, whose code writes another line to the log.
    changed = repository.folder / "tap_leadintent/tap.py"
    changed.write_text(f"{changed.read_text(encoding='utf-8')}{LOGGED}")
    repository.commit()
    (upgrade,) = lines_of("install.md", "## Upgrade")
    shell.export(upgrade)
    now = yaml.safe_load((FOLDER / "tap-leadintent.yaml").read_text("utf-8"))
    extractor = shell.plugin("extractors")
    assert extractor["settings"] == now["settings"]
    assert extractor["pip_url"].startswith("tap-leadintent[faker]==")
    assert ".post2+g" in extractor["pip_url"]
    assert shell.config() == config
    printed = shell("meltano invoke tap-leadintent --version")
    assert "This is the newer code." in printed


def test_state(walk: Walk) -> None:
    (plan, _) = lines_of("state.md")
    (forget,) = lines_of("state.md", "## Why is this row missing?")
    (reset,) = lines_of("state.md", "## Reset one stream")
    heading = "## A warehouse that was restored or emptied"
    (restored,) = lines_of("state.md", heading)
    interval = "--from 2026-05-03 --to 2026-05-04"
    words = forget.replace("\\", "").replace(interval, "").split()
    assert reset.split() == words
    walk.shell(RUN, forget)
    forgotten = "2026-05-03T00:00:00Z to 2026-05-04T00:00:00Z: not read yet"
    select = 'export TAP_LEADINTENT__SELECT=\'["leads.*", "obs*.*"]\''
    printed = walk.shell(select, plan)
    assert f"]\n  date_found from {forgotten}" in printed
    assert "\nNot selected: signal_agents, signal_accounts, mon" in printed
    # As if a backup of 2026-05-01 had been restored.
    tables = walk.tables()
    found = set()
    for lead, at in walk.sandbox.times("leads").items():
        if at["found_at"] > "2026-05-01":
            found.add(lead)
            walk.ask(f"DELETE FROM tap_leadintent.leads WHERE id = '{lead}'")  # noqa: S608
    assert 0 < len(found) < len(tables["leads"])
    walk.ask("DELETE FROM tap_leadintent.observations WHERE observed_at > '2026-05-01'")
    walk.shell(restored, RUN)
    assert walk.tables() == tables


def test_settings_without_meltano(walk: Walk) -> None:
    (change,) = lines_of("settings.md")
    bare, again = lines_of("settings.md", "## Without Meltano")
    assert "'lookback_days' was set" in walk.shell(change)
    (walk.shell.folder / "bare").mkdir()
    # A state of the loader, and log lines of each run.
    assert "150 records" in walk.shell(bare, folder="bare")
    assert "150 records" not in walk.shell(again, folder="bare")


def test_warehouses(walk: Walk) -> None:
    (keys, _snowflake) = lines_of("warehouses.md", "## Snowflake")
    (duckdb,) = lines_of("warehouses.md", "## DuckDB")
    (files,) = lines_of("warehouses.md", "## JSON Lines")
    home = walk.shell.folder
    assert "BEGIN PUBLIC KEY" in walk.shell(f"export HOME={home}", keys)
    add = lines_of("warehouses.md")[0]
    walk.shell(
        add.replace("target-snowflake", "target-duckdb"),
        duckdb,
        files,
    )
    assert (walk.shell.project / "output/leads.duckdb").exists()
    assert "leads.duckdb" not in walk.shell(ADD_ALL)
    output = (walk.shell.project / "output").iterdir()
    assert {path.stem for path in output} >= {*STREAMS}


def test_another_package_of_the_name_never_runs(
    walk: Walk,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Anyone could register it, with a higher version."""
    with serving_another_package(tmp_path_factory.mktemp("index")) as index:
        anyone = f"export UV_INDEX={index}"
        by_name = "uvx --from tap-leadintent tap-leadintent-definition tap-leadintent"
        assert "run by somebody else" in walk.shell(anyone, by_name)
        (add,) = lines_of("warehouses.md")[:1]
        walk.shell(anyone, add.replace("snowflake", "jsonl"))
        assert walk.shell.plugin("loaders")
        (walk.shell.folder / "bare").mkdir()
        bare, _ = lines_of("settings.md", "## Without Meltano")
        printed = walk.shell(anyone, bare, folder="bare")
        assert "150 records" in printed
        # Meltano installs what the definition names.
        project = walk.shell.folder / "other"
        shutil.copytree(walk.shell.project, project)
        shutil.rmtree(project / ".meltano/extractors")
        walk.shell(anyone, "meltano install tap-leadintent", folder="other")
        check = "meltano invoke tap-leadintent --version"
        assert "run by somebody else" not in walk.shell(check, folder="other")


def test_no_page_installs_the_tap_by_its_name() -> None:
    by_name = re.compile(r"(--from|install.*) '?tap-leadintent\b(?!-demo)")
    for page in [
        README,
        *DOCS.rglob("*.md"),
        *DOCS.rglob("Dockerfile"),
    ]:
        for block in blocks(page.read_text("utf-8"), "sh"):
            assert not by_name.search(block), page


def test_scaling(walk: Walk) -> None:
    shards = lines_of("scaling.md", "## A backfill on several machines")
    for month in ("03", "09"):
        at = f"2025-{month}-01T00:00:00Z"
        walk.sandbox.insert(
            "leads",
            {"id": f"of-{month}"},
            found_at=at,
        )
    (walk.shell.folder / "meltano-state").mkdir()
    walk.shell(RUN)
    for lines in shards:
        walk.shell(lines)
    assert walk.tables()["leads"].keys() >= {"of-03", "of-09"}


def test_environments(walk: Walk) -> None:
    environments, run, by_hand = lines_of("production.md", "## Two environments")
    (moved,) = lines_of("production.md", "## Another schema or database")
    (methods,) = lines_of("recipes.md", "## Another replication method")
    walk.shell(RUN)
    before = len(walk.sandbox.requests())
    walk.shell(methods, environments, run)
    secrets = walk.shell.project / ".env"
    assert API_KEY in secrets.read_text("utf-8")
    assert secrets.stat().st_mode & 0o077 == 0, "only its owner may read it"
    search = f"git grep --cached --name-only {API_KEY} || echo nowhere"
    assert walk.shell(ADD_ALL, search).endswith("nowhere\n")
    requests = walk.sandbox.requests()[before:]
    by_range = set()
    for request in requests:
        if "latest_activity" in request["body"]:
            by_range.add(request["stream"])
    assert by_range == {"monitored_accounts"}
    walk.shell(moved)
    for schema in ("tap_leadintent", "leads_prod", "leads_dev"):
        for stream in STREAMS:
            rows = walk.tables(schema)[stream]
            assert rows == expected_rows(walk.sandbox, stream), schema
    heading = "## A state that outlives the machine"
    backend, save, restore = lines_of("production.md", heading)
    (shared, _bucket) = backend.splitlines()
    names = walk.shell("meltano state list 2> /dev/null").splitlines()
    assert [name.partition(":")[0] for name in names] == ["dev", "prod"]
    walk.shell(save)
    copied = walk.shell(shared, restore, "meltano state list 2> /dev/null").splitlines()
    assert copied[-2:] == names
    for name in names:
        saved = (walk.shell.project / f"output/states/{name}.json").read_text("utf-8")
        state = walk.shell(shared, f"meltano state get {name} 2> /dev/null")
        assert json.loads(state) == json.loads(saved)
    walk.shell(shared, by_hand)
    exclude, *_ = lines_of("columns.md", "## Keeping names and personal data out")
    walk.shell("export MELTANO_ENVIRONMENT=prod", exclude)
    assert "exclude_fields" not in walk.shell.config(), "of the other environments"
    of_all = {"observations": ["account"]}
    walk.shell(
        f"meltano config set tap-leadintent exclude_fields '{json.dumps(of_all)}'"
    )
    assert walk.shell.config()["exclude_fields"] == of_all
    of_prod = "meltano --environment=prod config print tap-leadintent 2> /dev/null"
    excluded = json.loads(walk.shell(of_prod))["exclude_fields"]
    assert excluded.keys() == {"leads", "monitored_leads", "observations"}


def test_troubleshooting(walk: Walk) -> None:
    nowhere = "postgresql+psycopg://loader:secret@127.0.0.1:9/warehouse"
    there = f"export TARGET_POSTGRES_SQLALCHEMY_URL={nowhere}"
    (line,) = lines_of("troubleshooting.md")
    printed = walk.shell(there, line)
    assert "connection failed" in printed
    assert len(printed.splitlines()) < 10
