"""What the page about production offers: the script of a schedule, and a container."""

import re
import shutil
from pathlib import Path

import pytest

from tests.support.helpers import STREAMS
from tests.support.rows import expected_rows
from tests.support.walk import DOCS, Walk, lines_of

pytestmark = pytest.mark.long
SCRIPT = DOCS / "examples/run.sh"
DOCKER = DOCS / "examples/docker"
OWN = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "own"
version = "1"
scripts.own = "own:main"
"""


def run(walk: Walk, *lines: str) -> list[str]:
    """Run the line of the page, and return what it prints, and its exit code."""
    (script,) = lines_of("production.md", "## Alerts")[:1]
    printed = walk.shell(*lines, f"{script.rstrip()} || echo exited with $?")
    return [line for line in printed.splitlines() if line]


def test_the_script_says_what_failed_and_what_changed(walk: Walk) -> None:
    shutil.copy(SCRIPT, walk.shell.project)
    only_leads = "export TAP_LEADINTENT__SELECT='[\"leads.*\"]'"
    (clock,) = run(walk, only_leads)
    assert "clock" in clock
    changes = {"score": {"value": "high"}, "company": "Acme", "fullname": "Ada"}
    for number in range(2):
        changed = {"id": f"odd-{number}", **changes}
        walk.sandbox.insert("leads", changed, found_at=walk.sandbox.now())
        walk.sandbox.advance(60)
        printed = run(walk, only_leads)
        # The second time, it is known.
        assert len(printed) == (0 if number else 2), printed
        if printed:
            assert "company" in "".join(printed)
            assert "fullname" in "".join(printed)
    down = "postgresql+psycopg://loader:secret@127.0.0.1:9/warehouse"
    printed = run(walk, f"export TARGET_POSTGRES_SQLALCHEMY_URL={down}")
    assert printed[0].startswith("target-postgres: ")
    assert "connection failed" in printed[0]
    assert printed[-1] == "exited with 1"
    printed = run(walk, only_leads, "export TAP_LEADINTENT_API_KEY=of-somebody-else")
    assert printed[0].startswith("tap-leadintent: ")
    assert "HTTP 401" in printed[0]
    assert printed[-1] == "exited with 1"


def test_the_script_fails_without_a_state(walk: Walk) -> None:
    shutil.copy(SCRIPT, walk.shell.project)
    # What Meltano logs if it cannot store a state.
    meltano = walk.shell.folder / "fake" / "meltano"
    meltano.parent.mkdir()
    line = """echo '{"exc_type": "StatePersistenceError"}' >&2"""
    meltano.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    meltano.chmod(0o755)
    printed = run(walk, f'export PATH={meltano.parent}:"$PATH"')
    assert printed == ["StatePersistenceError", "exited with 1"]


def test_crontab() -> None:
    text = (DOCS / "recipes.md").read_text("utf-8")
    pattern = r"^[\d*]+ .* && flock.* run.lock (.*)$"
    full, hourly = "--full-refresh", "sh run.sh tap-leadintent target-postgres"
    commands = re.findall(pattern, text, re.MULTILINE)
    assert [each.replace(f"{full} ", "") for each in commands] == [hourly] * 2
    assert full in commands[1]
    assert "\nMELTANO_ENVIRONMENT=prod\n" in text


def make_image(walk: Walk, installed: Path) -> Path:
    """Do the steps of the Dockerfile without Docker; return the home folder."""
    context = walk.shell.project
    for path in (SCRIPT, DOCKER / "Dockerfile"):
        shutil.copy(path, context)
    shutil.copytree(installed / "clone/dist", context / "dist")
    home = walk.shell.folder / "home"
    (home / "leads").mkdir(parents=True)
    variables = {"HOME": str(home), "UV_TOOL_DIR": f"{home}/tools"}
    variables["UV_CACHE_DIR"] = walk.shell("uv cache dir").strip()
    variables["UV_TOOL_BIN_DIR"] = f"{home}/.local/bin"
    ignored = (DOCKER / "Dockerfile.dockerignore").read_text("utf-8").split()
    for line in (DOCKER / "Dockerfile").read_text("utf-8").splitlines():
        step, _, rest = line.replace("/home/loader", str(home)).partition(" ")
        if step == "ENV":
            name, _, value = rest.partition("=")
            variables[name] = value.replace("$PATH", walk.shell.variables["PATH"])
        elif step == "COPY":
            *_, source, to = rest.split()
            shutil.copytree(
                context / source,
                home / "leads" / to,
                ignore=shutil.ignore_patterns(*ignored),
                dirs_exist_ok=True,
            )
        elif step == "RUN" and rest.startswith(("uv ", "meltano ")):
            walk.shell.variables.update(variables)
            walk.shell(rest, folder=home / "leads")
    return home


def test_container(walk: Walk, installed: Path) -> None:
    own = walk.shell.project / "own"
    own.mkdir()
    (own / "pyproject.toml").write_text(OWN, encoding="utf-8")
    (own / "own.py").write_text("def main(): print('mine')\n", encoding="utf-8")
    project = walk.shell.file()
    utility = {"name": "own", "namespace": "own", "pip_url": "./own"}
    project["plugins"]["utilities"] = [{**utility, "executable": "own"}]
    walk.shell.write(project)
    home = make_image(walk, installed)
    assert not (home / "leads/.env").exists()
    text = (DOCKER / "Dockerfile").read_text("utf-8")
    command = re.findall(r'"([^"]+)"', text.partition("ENTRYPOINT")[2])
    # Its variables, of which the page names these; the state is in the database.
    env = (walk.shell.project / ".env").read_text("utf-8").split()
    variables = [*env, f"MELTANO_DATABASE_URI='{walk.postgres.url}'"]
    lines = [f"export {each}" for each in variables]
    assert "mine" in walk.shell(*lines, "meltano invoke own", folder=home / "leads")
    walk.shell(*lines, " ".join(command), folder=home / "leads")
    for stream in STREAMS:
        assert walk.tables()[stream] == expected_rows(walk.sandbox, stream)
    states = walk.ask("SELECT state_id FROM public.state")
    assert states == [("dev:tap-leadintent-to-target-postgres",)]
