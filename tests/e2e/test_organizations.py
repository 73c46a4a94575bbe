"""Two organizations in one project, with the lines of `docs/recipes.md`."""

import re
from pathlib import Path

import pytest
import yaml

from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.demo.project import write_project
from tap_leadintent.sandbox import running_sandbox
from tests.support.helpers import STREAMS, raw_records
from tests.support.pages import ROOT, section, shell_blocks, typed
from tests.support.postgres import tables_of
from tests.support.runs import CLOCK, SINCE

RECIPE = section(ROOT / "docs/recipes.md", "## Several organizations")
(TYPED,) = shell_blocks(RECIPE)
(ADDED,) = re.findall(r"```yaml\n(.*?)```", RECIPE, re.DOTALL)
KEYS = {"acme": "the key of Acme", "globex": "the key of Globex"}


def made_project(folder: Path) -> None:
    """Make the demo's project with what the page adds to it."""
    write_project(folder)
    path = folder / "meltano.yml"
    project = yaml.safe_load(path.read_text("utf-8"))
    project["plugins"]["extractors"] += yaml.safe_load(ADDED)["plugins"]["extractors"]
    path.write_text(yaml.safe_dump(project), "utf-8")


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
        typed(
            lines,
            tmp_path,
            TAP_LEADINTENT_START_DATE=SINCE,
            TARGET_POSTGRES_SQLALCHEMY_URL=postgres.url,
            **addresses,
        )
        for name, sandbox in sandboxes.items():
            tables = tables_of(postgres, name)
            for stream in STREAMS:
                told = {record["id"] for record in raw_records(sandbox, stream)}
                assert tables[stream].keys() == told != set()
    kept = (tmp_path / ".env").read_text("utf-8")
    assert all(key.replace(" ", "-") in kept for key in KEYS.values())
