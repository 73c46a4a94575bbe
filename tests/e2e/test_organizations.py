"""Two organizations in one project, with the lines of `docs/recipes.md`."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sysconfig
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tap_leadintent.sandbox import running_sandbox
from tests.support.helpers import STREAMS, TIMEOUT, raw_records
from tests.support.pages import ROOT, section, shell_blocks
from tests.support.postgres import tables_of
from tests.support.runs import CLOCK, SINCE

if TYPE_CHECKING:
    from pathlib import Path

    from tap_leadintent.demo.postgres import Postgres

RECIPE = section(ROOT / "docs/recipes.md", "## Several organizations")
(TYPED,) = shell_blocks(RECIPE)
(ADDED,) = re.findall(r"```yaml\n(.*?)```", RECIPE, re.DOTALL)
KEYS = {"acme": "the key of Acme", "globex": "the key of Globex"}


def made_project(folder: Path) -> None:
    """Make this repository's project with what the page adds to it."""
    project: dict[str, Any] = yaml.safe_load((ROOT / "meltano.yml").read_text("utf-8"))
    (tap,) = project["plugins"]["extractors"]
    tap["pip_url"] = f"-e {shlex.quote(str(ROOT))}"
    loaders = project["plugins"]["loaders"]
    project["plugins"]["loaders"] = [
        each for each in loaders if each["name"] == "target-postgres"
    ]
    del project["jobs"], project["schedules"]
    project["plugins"]["extractors"] += yaml.safe_load(ADDED)["plugins"]["extractors"]
    folder.joinpath("meltano.yml").write_text(yaml.safe_dump(project), "utf-8")


@pytest.mark.long
def test_each_has_its_key_its_state_and_its_schema(
    postgres: Postgres, tmp_path: Path
) -> None:
    made_project(tmp_path)
    with running_sandbox() as acme, running_sandbox() as globex:
        sandboxes = {"acme": acme, "globex": globex}
        addresses = {}
        lines = TYPED
        for number, (name, sandbox) in enumerate(sandboxes.items(), start=1):
            # A key of its own, without the white space that only a page may have.
            key = KEYS[name].replace(" ", "-")
            lines = lines.replace(KEYS[name], key)
            sizes = dict.fromkeys(STREAMS, 10 * number)
            sandbox.configure(api_key=key, clock=CLOCK, seed=number, sizes=sizes)
            addresses[f"TAP_LEADINTENT_{name.upper()}_BASE_URL"] = sandbox.url
        done = subprocess.run(  # noqa: S603 - what the page says
            ["/bin/sh", "-e", "-c", lines],
            cwd=tmp_path,
            env=environment(TARGET_POSTGRES_SQLALCHEMY_URL=postgres.url, **addresses),
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=2 * TIMEOUT,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        for name, sandbox in sandboxes.items():
            tables = tables_of(postgres, name)
            assert tables.keys() == set(STREAMS)
            for stream, rows in tables.items():
                told = {record["id"] for record in raw_records(sandbox, stream)}
                assert {row["id"] for row in rows.values()} == told
                assert told
    kept = (tmp_path / ".env").read_text("utf-8")
    assert all(key.replace(" ", "-") in kept for key in KEYS.values())


def environment(**variables: str) -> dict[str, str]:
    """Give the environment of a user who has installed Meltano."""
    scripts = sysconfig.get_path("scripts")
    return {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "MELTANO_SEND_ANONYMOUS_USAGE_STATS": "false",
        "NO_COLOR": "1",
        "TAP_LEADINTENT_START_DATE": SINCE,
        **variables,
    }
