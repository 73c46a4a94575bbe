"""A user's way through the pages: the lines that they show, in one Meltano project."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from tap_leadintent.definitions import FOLDER
from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.sandbox import Sandbox, running_sandbox
from tests.support.clones import Repository
from tests.support.helpers import API_KEY, STREAMS, UNDOCUMENTED, raw_records
from tests.support.pages import ROOT, SCRIPTS, shell_blocks, typed
from tests.support.postgres import Rows, rows_of, tables_of
from tests.support.rows import expected_rows, without
from tests.support.runs import CLOCK

DOCS = ROOT / "docs"
INSTALL = DOCS / "install.md"
NEW, FIRST, EXISTING, UPGRADE, _SHARED, _VENV = shell_blocks(INSTALL.read_text("utf-8"))
QUERIES = [
    re.findall(r"```sql\n(SELECT .*?)```", page.read_text("utf-8"), re.DOTALL)[0]
    for page in (INSTALL, DOCS / "tables.md")
]
SIZES = {**dict.fromkeys(STREAMS, 30), "leads": 150}
SINCE = "2026-01-02T00:00:00Z"
LOGGED = 'import sys\nprint("This is the newer code.", file=sys.stderr)\n'
# A run without them would be one of another definition.
SOME_DEFAULTS = {"load_method": "upsert", "use_copy": True, "validate_records": False}
RUN = "meltano run tap-leadintent target-postgres"


def blocks(page: str) -> list[str]:
    """Return the lines of a page that a reader pastes."""
    return shell_blocks((DOCS / page).read_text("utf-8"))


class Shell:
    """A shell that has uv, and nothing else that the project needs.

    What the pages can only give as an example is replaced in the lines.
    """

    def __init__(
        self, folder: Path, examples: Mapping[str, str], **variables: str
    ) -> None:
        path = os.environ["PATH"].split(os.pathsep)
        self.folder = folder
        self.project = folder / "leads"
        self._examples = {**examples, "/mnt/shared": str(folder)}
        self._env = {
            "PATH": os.pathsep.join(each for each in path if each != SCRIPTS),
            "UV_TOOL_BIN_DIR": str(folder / "programs"),
            "UV_TOOL_DIR": str(folder / "tools"),
            **variables,
        }
        self.repository = Repository(folder / "repository")
        self.repository.git("clone", ".", str(folder / "clone"))

    def __call__(self, *lines: str, folder: Path | str = "") -> str:
        """Type lines, one after the other; each must succeed."""
        text = "".join(f"{each}\n" for each in lines).rstrip("\n")
        for example, value in self._examples.items():
            text = text.replace(example, value)
        place = self.project if self.project.exists() else self.folder
        return typed(text, self.folder / folder if folder else place, **self._env)

    def export(self, block: str) -> None:
        """Run a block in the clone, and keep the variables that it exports."""
        names = sorted(set(re.findall(r"export (\w+)=", block)))
        values = [f'printf "%s\\n" "${name}"' for name in names]
        printed = self(block, *values, folder="clone").splitlines()
        self._env.update(zip(names, printed[-len(names) :], strict=True))

    def plugin(self, kind: str) -> dict[str, Any]:
        """Return the first plugin of a kind that the project has."""
        text = (self.project / "meltano.yml").read_text(encoding="utf-8")
        return dict(yaml.safe_load(text)["plugins"][kind][0])

    def config(self) -> dict[str, Any]:
        """Return the settings of the tap in the project."""
        return dict(self.plugin("extractors")["config"])

    def forget(self, *names: str) -> None:
        """Take settings of the tap out of the project's file."""
        path = self.project / "meltano.yml"
        project = yaml.safe_load(path.read_text("utf-8"))
        extractor = project["plugins"]["extractors"][0]
        for name in names:
            extractor["config"].pop(name, extractor.pop(name, None))
        path.write_text(yaml.safe_dump(project, sort_keys=False), "utf-8")


class Walk:
    """The parts of the way, one for each page, in their order."""

    def __init__(self, shell: Shell, sandbox: Sandbox, postgres: Postgres) -> None:
        self._shell = shell
        self._sandbox = sandbox
        self._postgres = postgres

    def tables(self, schema: str = "tap_leadintent") -> dict[str, Rows]:
        """Return what is loaded."""
        return tables_of(self._postgres, schema)

    def install(self) -> None:
        self._shell.export(NEW)
        self._shell.export(EXISTING)  # it replaces the extractor by the same
        self._shell(FIRST)
        tables = self.tables()
        assert {name: len(rows) for name, rows in tables.items()} == SIZES
        for stream in STREAMS:
            assert tables[stream] == expected_rows(self._sandbox, stream)
        config = {"base_url": self._sandbox.url, "start_date": "2026-01-01"}
        assert self._shell.config() == config
        loader = self._shell.plugin("loaders")
        assert "config" not in loader, "its address is a secret"
        defaults = {each["name"]: each.get("value") for each in loader["settings"]}
        assert defaults.items() >= SOME_DEFAULTS.items()
        with self._postgres.connect() as connection:
            for query in QUERIES:
                assert len(connection.execute(query.encode()).fetchall()) >= 10

    def state(self) -> None:
        plan, _, show, forget, reset, *_ = blocks("state.md")
        assert show == plan.replace("state plan", "state show")
        interval = "--from 2026-05-03 --to 2026-05-04"
        words = forget.replace("\\", "").replace(interval, "").split()
        assert reset.split() == words
        self._shell(forget)
        forgotten = "2026-05-03T00:00:00Z to 2026-05-04T00:00:00Z: not read yet"
        select = 'export TAP_LEADINTENT__SELECT=\'["leads.*", "obs*.*"]\''
        printed = self._shell(select, plan)
        assert f"]\n  date_found from {forgotten}" in printed
        assert "lookback" in printed
        assert "\nNot selected: signal_agents, signal_accounts, mon" in printed

    def settings(self) -> None:
        change, bare, again = blocks("settings.md")
        assert "'concurrency' was set" in self._shell(change)
        (self._shell.folder / "bare").mkdir()
        # A state of the loader, and log lines of each run.
        assert "150 records" in self._shell(bare, folder="bare")
        assert "150 records" not in self._shell(again, folder="bare")

    def columns(self) -> None:
        inferred, by_hand, masked, excluded = blocks("columns.md")
        self._shell(inferred)
        schema = self._shell.plugin("extractors")["schema"]
        assert schema.keys() == UNDOCUMENTED
        confidence = {"type": ["number", "null"]}
        assert schema["observations"]["confidence"] == confidence
        self._shell(by_hand)
        schema = self._shell.plugin("extractors")["schema"]
        assert schema == {"observations": {"confidence": confidence}}

        known = {"id": "known", "email": "ada@example.com"}
        self._sandbox.insert("monitored_leads", known, activity_at=self._sandbox.now())
        self._shell(masked, RUN)
        row = self.tables()["monitored_leads"]["known"]
        secret = b"a long random text"
        assert row["email"] == sha256(secret + b"ada@example.com").hexdigest()
        assert not row["additional_properties"]
        self._shell(excluded)
        assert "email" in self._shell.config()["exclude_fields"]["monitored_leads"]
        self._shell.forget("stream_maps", "exclude_fields")

    def recipes(self) -> None:
        (
            schedule,
            hourly,
            refresh,
            streams,
            filters,
            _methods,
            history,
            _by_sheet,
            leaving,
            erased,
            several,
            acme,
        ) = blocks("recipes.md")
        text = (DOCS / "recipes.md").read_text("utf-8")
        pattern = r"^[\d*]+ .* && flock.* run.lock (.*) >> \S+ 2>&1$"
        crontab = re.findall(pattern, text, re.MULTILINE)
        assert [f"{line}\n" in schedule + refresh for line in crontab] == [True] * 2
        self._shell(schedule)
        assert "1 stream, " in self._shell(hourly)
        self._shell(refresh, streams, filters, leaving)
        assert self._shell.plugin("extractors")["select"] == ["leads.*"]
        self._shell.forget("select")
        account = raw_records(self._sandbox, "monitored_accounts")[0]["id"]
        self._sandbox.remove("monitored_accounts", account)
        assert "leads: 0 records" in self._shell(RUN), "the filters leave none"
        table = rows_of(self._postgres, "tap_leadintent", "monitored_accounts")
        assert [row["id"] for row in table if row["_sdc_deleted_at"]] == [account]
        self._shell.forget("filters")
        self._shell(history, refresh)
        tables = self.tables()
        assert tables["leads"] == expected_rows(self._sandbox, "leads")
        with_key = tables["leads_history"].items()
        assert {key: without("signal_key")(row) for key, row in with_key} == (
            tables["leads"]
        )
        for lead in ("lead_123", "lead_124"):
            self._sandbox.insert("leads", {"id": lead}, found_at=self._sandbox.now())
        self._shell(erased, several, RUN)
        for name, rows in self.tables().items():
            if name in {"leads", "leads_history"}:
                assert rows.keys() - tables["leads"].keys() == {"lead_124"}
                assert rows["lead_124"]["full_name"] is None
        self._shell.forget("stream_maps")
        # Another organization has its own key, and here also its own address.
        self._shell(acme)
        found = {stream: len(rows) for stream, rows in self.tables("acme").items()}
        assert found == dict.fromkeys(STREAMS, 10)

    def warehouses(self) -> None:
        _, keys, _snowflake, files, *_ = blocks("warehouses.md")
        home = self._shell.folder
        assert "BEGIN PUBLIC KEY" in self._shell(f"export HOME={home}", keys)
        self._shell(files)
        output = (self._shell.project / "output").iterdir()
        assert {path.stem for path in output} >= {*STREAMS}

    def troubles(self) -> None:
        nowhere = "postgresql+psycopg://loader:secret@127.0.0.1:9/warehouse"
        there = f"export TARGET_POSTGRES_SQLALCHEMY_URL={nowhere}"
        printed = self._shell(there, blocks("troubleshooting.md")[0])
        assert "connection failed" in printed
        assert len(printed.splitlines()) < 10

    def scaling(self) -> None:
        *shards, _airflow = blocks("scaling.md")
        for month in ("03", "09"):
            at = f"2025-{month}-01T00:00:00Z"
            self._sandbox.insert("leads", {"id": f"of-{month}"}, found_at=at)
        (self._shell.folder / "meltano-state").mkdir()
        self._shell(RUN)
        for lines in shards:
            self._shell(lines)
        assert self.tables()["leads"].keys() >= {"of-03", "of-09"}

    def production(self) -> None:
        environments, run, *_, alert = blocks("production.md")
        self._shell(environments, "sed -i.old /TAP_LEADINTENT_API_KEY/d .env")
        (methods,) = [each for each in blocks("recipes.md") if "_metadata" in each]
        log = self._shell(f"export LEADINTENT_PROD_KEY={API_KEY}", methods, run)
        assert "monitored_accounts: reading latest_activity from" in log
        assert "monitored_leads: reading all records" in log
        assert self.tables("leads_prod").keys() == set(STREAMS)
        somebody_else = "export LEADINTENT_PROD_KEY=of-somebody-else"
        printed = self._shell(somebody_else, f"({alert}) || echo exited with $?")
        assert "the API refused the key" in printed
        assert printed.endswith("exited with 1\n")
        # What Meltano logs if it cannot store a state.
        logs = """meltano() { echo '{"exc_type": "StatePersistenceError"}' >&2; }"""
        printed = self._shell(logs, f"({alert}) || echo exited with $?")
        assert printed == "StatePersistenceError\nexited with 1\n"
        # The steps of the image, as far as they go without a daemon.
        text = (DOCS / "examples/docker/Dockerfile").read_text("utf-8")
        steps = re.findall(r"^RUN ((?:uv|meltano) .*)$", text, re.MULTILINE)
        home = self._shell.folder / "image"
        home.mkdir()
        cache = self._shell("uv cache dir").strip()
        variables = (
            f"HOME={home} UV_CACHE_DIR={cache} "
            f"UV_TOOL_DIR={home}/tools UV_TOOL_BIN_DIR={home}/bin"
        )
        copied = f"cp {self._shell.project}/meltano.yml ."
        path = f'export {variables} PATH={home}/bin:"$PATH"'
        last = "meltano invoke tap-leadintent --version"
        assert "tap-leadintent" in self._shell(path, copied, *steps, last, folder=home)

    def upgrade(self) -> None:
        # A definition of old: with a setting that is gone, and without one that is new.
        config = self._shell.config()
        path = self._shell.project / "meltano.yml"
        text = path.read_text(encoding="utf-8")
        older = text.replace("name: lookback_minutes", "name: lookback_hours")
        assert older != text
        path.write_text(older, encoding="utf-8")
        # A newer commit, whose code writes another line to the log.
        changed = self._shell.repository.folder / "tap_leadintent/tap.py"
        changed.write_text(f"{changed.read_text(encoding='utf-8')}{LOGGED}")
        self._shell.repository.commit()
        self._shell.export(UPGRADE)
        now = yaml.safe_load((FOLDER / "tap-leadintent.yaml").read_text("utf-8"))
        extractor = self._shell.plugin("extractors")
        assert extractor["settings"] == now["settings"]
        assert ".post2+g" in extractor["pip_url"]
        assert self._shell.config() == config
        printed = self._shell("meltano invoke tap-leadintent --version")
        assert "This is the newer code." in printed


@contextmanager
def begin_walk(sandbox: Sandbox, postgres: Postgres, folder: Path) -> Iterator[Walk]:
    """Fill the APIs that the lines of the pages read; `install` has to come first.

    Args:
        sandbox: The API of the pages; that of another organization is started.
        postgres: The database.
        folder: Where the user begins.

    Yields:
        The way.
    """
    sandbox.configure(api_key=API_KEY, since=SINCE, sizes=SIZES)
    examples = {
        "https://api.example.com": sandbox.url,
        "the key of your organization": API_KEY,
        "the key of Acme": "the-key-of-Acme",
        "postgresql+psycopg://loader:password@db.example.com:5432/warehouse": (
            postgres.url
        ),
    }
    with running_sandbox() as acme:
        sizes = dict.fromkeys(STREAMS, 10)
        acme.configure(api_key="the-key-of-Acme", clock=CLOCK, since=SINCE, sizes=sizes)
        shell = Shell(folder, examples, TAP_LEADINTENT_ACME_BASE_URL=acme.url)
        yield Walk(shell, sandbox, postgres)
