"""A user's way through the pages: their lines, typed in real Meltano projects.

What all projects need is installed once by the lines of the page. Each test gets a
project of its own, which uses these plugins, and a database.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import yaml

from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.sandbox import Sandbox
from tests.support.clones import Repository
from tests.support.helpers import API_KEY, STREAMS, Json
from tests.support.pages import ROOT, SCRIPTS, blocks, section, typed
from tests.support.postgres import Rows, tables_of

DOCS = ROOT / "docs"
SIZES = {
    **dict.fromkeys(STREAMS, 30),
    "leads": 150,
}
SINCE = "2026-01-02T00:00:00Z"
START_DATE = "2026-01-01"
DATABASE = "postgresql+psycopg://loader:password@db.example.com:5432/warehouse"
EXAMPLES = {
    "https://api.example.com": "",
    "the key of your organization": API_KEY,
    "the key of production": API_KEY,
    DATABASE: "",
}
RUN = "meltano run tap-leadintent target-postgres"


def lines_of(
    page: str,
    heading: str = "",
    kind: str = "sh",
) -> list[str]:
    """Return the blocks of a section, or those before the first section."""
    if heading:
        return blocks(section(DOCS / page, heading), kind)
    text = (DOCS / page).read_text(encoding="utf-8")
    return blocks(text.partition("\n## ")[0], kind)


class Shell:
    """A shell that has uv, and nothing else that the project needs.

    What the pages can only give as an example is replaced in the lines.
    """

    def __init__(
        self,
        folder: Path,
        examples: Mapping[str, str],
        **variables: str,
    ) -> None:
        self.folder = folder
        self.project = folder / "leads"
        self._examples = {
            **examples,
            "/mnt/shared": str(folder),
        }
        self.variables = variables

    def __call__(
        self,
        *lines: str,
        folder: Path | str = "",
    ) -> str:
        """Type lines, one after the other; each must succeed."""
        text = "".join(f"{each}\n" for each in lines).rstrip("\n")
        for example, value in self._examples.items():
            text = text.replace(example, value)
        if folder:
            place = self.folder / folder
        elif self.project.exists():
            place = self.project
        else:
            place = self.folder
        return typed(
            text,
            place,
            **self.variables,
        )

    def export(self, block: str) -> dict[str, str]:
        """Run a block in the clone, keep the variables that it exports, return all."""
        names = sorted(set(re.findall(r"export (\w+)=", block)))
        values = [f'printf "%s\\n" "${name}"' for name in names]
        printed = self(block, *values, folder="clone").splitlines()
        self.variables.update(
            zip(
                names,
                printed[-len(names) :],
                strict=True,
            )
        )
        return self.variables

    def plugin(self, kind: str) -> Json:
        """Return the first plugin of a kind that the project has."""
        return dict(self.file()["plugins"][kind][0])

    def config(self) -> Json:
        """Return the settings of the tap in the project."""
        return dict(self.plugin("extractors")["config"])

    def file(self) -> Json:
        """Return what `meltano.yml` contains."""
        text = (self.project / "meltano.yml").read_text(encoding="utf-8")
        return dict(yaml.safe_load(text))

    def forget(self, *names: str) -> None:
        """Take settings of the tap out of the project's file."""
        project = self.file()
        extractor = project["plugins"]["extractors"][0]
        for name in names:
            extractor["config"].pop(name, extractor.pop(name, None))
        self.write(project)

    def write(self, project: Mapping[str, Any]) -> None:
        """Write `meltano.yml`."""
        text = yaml.safe_dump(project, sort_keys=False)
        (self.project / "meltano.yml").write_text(text, "utf-8")


@dataclass(frozen=True)
class Walk:
    """A project, the API that it reads, and the database that it loads."""

    shell: Shell
    sandbox: Sandbox
    postgres: Postgres

    def tables(self, schema: str = "tap_leadintent") -> dict[str, Rows]:
        """Return what is loaded."""
        return tables_of(self.postgres, schema)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query or a statement of a page returns."""
        with self.postgres.connect() as connection:
            cursor = connection.execute(query.encode())
            return cursor.fetchall() if cursor.description else []

    def clean(
        self,
        page: str,
        heading: str,
        block: int = 0,
    ) -> None:
        """Run the statements of a page that clean what is loaded."""
        statements = lines_of(page, heading, "sql")[block]
        for statement in statements.split(";\n"):
            self.ask(statement)

    def tables_with(self, value: str) -> list[str]:
        """Return the tables that have a value anywhere, inside JSON too."""
        query = "SELECT 1 FROM tap_leadintent.{0} WHERE {0}::text LIKE '%{1}%'"
        found: list[str] = []
        for name in self.tables():
            statement = query.format(name, value)
            if self.ask(statement):
                found.append(name)
        return found


def install(folder: Path) -> dict[str, str]:
    """Install what the projects share by the lines of the page, once for all workers.

    Args:
        folder: The folder that all workers share; it may exist.

    Returns:
        The environment variables of a shell afterwards.
    """
    folder.mkdir(exist_ok=True)
    environment = folder / "environment.json"
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not environment.exists():
            path = os.environ["PATH"].split(os.pathsep)
            others = [each for each in path if each != SCRIPTS]
            variables = {
                "PATH": os.pathsep.join(others),
                "UV_TOOL_BIN_DIR": str(folder / "programs"),
                "UV_TOOL_DIR": str(folder / "tools"),
            }
            Repository(folder / "repository").git(
                "clone",
                ".",
                str(folder / "clone"),
            )
            shell = Shell(folder, {}, **variables)
            new, *_ = lines_of("install.md", "## A new project")
            environment.write_text(json.dumps(shell.export(new)), encoding="utf-8")
    return dict(json.loads(environment.read_text(encoding="utf-8")))


def begin(
    installed: Path,
    folder: Path,
    sandbox: Sandbox,
    postgres: Postgres,
    **more: str,
) -> Walk:
    """Copy the installed project into a folder, and make its database.

    Args:
        installed: The folder of `install`.
        folder: Where the project is to be.
        sandbox: Its API, which gets records.
        postgres: The server of its database.
        more: Further environment variables.
    """
    sandbox.configure(
        api_key=API_KEY,
        since=SINCE,
        sizes=SIZES,
    )
    name = re.sub(r"\W", "_", folder.name)
    with postgres.connect() as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    address = postgres.address.replace("/postgres?", f"/{name}?")
    postgres = replace(postgres, address=address)
    examples = {
        **EXAMPLES,
        "https://api.example.com": sandbox.url,
        DATABASE: postgres.url,
    }
    variables = {
        **install(installed),
        **more,
    }
    shell = Shell(
        folder,
        examples,
        **variables,
    )
    # The plugins are used where they are.
    ignored = shutil.ignore_patterns("extractors", "loaders", "run", "logs")
    shutil.copytree(installed / "leads", shell.project, ignore=ignored)
    for kind in ("extractors", "loaders"):
        plugins = shell.project / ".meltano" / kind
        plugins.mkdir()
        for plugin in (installed / "leads/.meltano" / kind).iterdir():
            (plugins / plugin.name).symlink_to(plugin)
    return Walk(shell, sandbox, postgres)


def configure(walk: Walk) -> None:
    """Write what the first lines of the page set."""
    project = walk.shell.file()
    config = {
        "base_url": walk.sandbox.url,
        "start_date": START_DATE,
    }
    project["plugins"]["extractors"][0]["config"] = config
    walk.shell.write(project)
    secrets = {
        "TAP_LEADINTENT_API_KEY": API_KEY,
        "TARGET_POSTGRES_SQLALCHEMY_URL": walk.postgres.url,
    }
    text = "".join(f"{name}='{value}'\n" for name, value in secrets.items())
    (walk.shell.project / ".env").write_text(text, encoding="utf-8")
