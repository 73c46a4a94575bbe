"""What the page about production offers: the script of a schedule, and a container."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tap_leadintent.demo.processes import child
from tests.support.helpers import API_KEY, STREAMS, TIMEOUT
from tests.support.pages import environment
from tests.support.rows import expected_rows
from tests.support.runs import poll
from tests.support.walk import DOCS, RUN, SINCE, SIZES, Walk, lines_of

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
    changes = {
        "score": {"value": "high"},
        "company": "Acme",
        "fullname": "Ada",
    }
    for number in range(2):
        changed = {"id": f"odd-{number}", **changes}
        walk.sandbox.insert(
            "leads",
            changed,
            found_at=walk.sandbox.now(),
        )
        walk.sandbox.advance(60)
        printed = run(walk, only_leads)
        # The second time, it is known.
        assert len(printed) == (0 if number else 2), printed
        if printed:
            assert "company" in "".join(printed)
            assert "fullname" in "".join(printed)
    project = walk.shell.project
    (seen,) = (project / "output").glob("*.seen")
    printed_today = seen.read_text("utf-8").splitlines()[1:]
    assert len(printed_today) == 3
    in_prod = run(walk, only_leads, "export MELTANO_ENVIRONMENT=prod")
    assert len(in_prod) == 3, "another environment has its own"
    seen.write_text("\n".join(["2026-01-01", *printed_today, ""]), "utf-8")
    assert "clock" in run(walk, only_leads)[0], "it was printed on another day"
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


def fill(walk: Walk, latency_seconds: float) -> None:
    """Give the API so many leads that a slow run can be stopped in its middle."""
    walk.sandbox.configure(
        api_key=API_KEY,
        since=SINCE,
        sizes={**SIZES, "leads": 5000},
        latency_seconds=latency_seconds,
    )


def test_the_script_fails_if_the_loader_ends_first_with_0(walk: Walk) -> None:
    shutil.copy(SCRIPT, walk.shell.project)
    early = walk.shell.project / "early.sh"
    early.write_text("#!/bin/sh\nhead -n 1 > /dev/null\n", encoding="utf-8")
    early.chmod(0o755)
    project = walk.shell.file()
    loader = {
        "name": "target-early",
        "namespace": "early",
        "executable": str(early),
    }
    project["plugins"]["loaders"].append(loader)
    walk.shell.write(project)
    fill(walk, latency_seconds=0.5)
    # Meltano alone takes it for a success.
    walk.shell(RUN.replace("postgres", "early"))
    (script,) = lines_of("production.md", "## Alerts")[:1]
    line = script.rstrip().replace("postgres", "early")
    printed = walk.shell(f"{line} || echo exited with $?").splitlines()
    early_end = "tap-leadintent: did not reach its end, because the loader ended first"
    assert early_end in printed
    assert printed[-1] == "exited with 1"


def can_make_namespaces() -> bool:
    command = [
        "unshare",
        "--pid",
        "--fork",
        "--mount-proc",
        "true",
    ]
    try:
        done = subprocess.run(  # noqa: S603
            command,
            check=False,
            capture_output=True,
        )
    except FileNotFoundError:
        return False
    return done.returncode == 0


@pytest.mark.skipif(not can_make_namespaces(), reason="needs the rights of root")
def test_the_script_can_be_stopped_as_process_1(walk: Walk) -> None:
    shutil.copy(SCRIPT, walk.shell.project)
    fill(walk, latency_seconds=0.5)
    script = [
        "sh",
        "run.sh",
        "tap-leadintent",
        "target-postgres",
    ]
    command = [
        "unshare",
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
        *script,
    ]
    settings = environment(**walk.shell.variables)
    with child(
        command,
        cwd=walk.shell.project,
        env=settings,
    ) as process:
        # A part of the leads has been requested.
        poll(lambda: len(walk.sandbox.requests()) > 20)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        (first,) = map(int, children.read_text("utf-8").split())
        os.kill(first, signal.SIGTERM)
        assert process.wait(TIMEOUT) == 128 + signal.SIGTERM
    fill(walk, latency_seconds=0)
    assert "exited with" not in run(walk)[-1]
    for stream in STREAMS:
        assert walk.tables()[stream] == expected_rows(walk.sandbox, stream)


def test_several_signals_to_its_process_group_end_the_script_as_one_does(
    walk: Walk,
) -> None:
    """Meltano alone may then refuse all runs for five minutes."""
    shutil.copy(SCRIPT, walk.shell.project)
    fill(walk, latency_seconds=0.5)
    with child(
        ["sh", "run.sh", "tap-leadintent", "target-postgres"],
        cwd=walk.shell.project,
        env=environment(**walk.shell.variables),
        start_new_session=True,
    ) as process:
        poll(lambda: len(walk.sandbox.requests()) > 20)
        for _ in range(3):
            os.killpg(process.pid, signal.SIGTERM)
        assert process.wait(TIMEOUT) == 128 + signal.SIGTERM
    fill(walk, latency_seconds=0)
    assert "exited with" not in run(walk)[-1]
    assert walk.tables()["leads"] == expected_rows(walk.sandbox, "leads")


def test_crontab(walk: Walk) -> None:
    """As cron runs it, with none of the variables of a shell."""
    shutil.copy(SCRIPT, walk.shell.project)
    environments, production, _ = lines_of("production.md", "## Two environments")
    (permissions, key, *_) = production.splitlines()
    walk.shell(environments, permissions, key)
    (crontab,) = lines_of("recipes.md", "## On a schedule", "crontab")
    path = walk.shell.variables["PATH"]
    settings = []
    commands = []
    for line in crontab.splitlines():
        if re.match(r"\w+=", line):
            setting = line.replace("/home/loader/.local/bin:", f"{path}:")
            settings.append(setting)
        else:
            words = line.split(maxsplit=5)
            commands.append(words[5])
    assert len(commands) == 2
    for command in commands:
        there = command.replace("/srv/leads", str(walk.shell.project))
        words = [
            "env",
            "-i",
            "HOME=/root",
            "SHELL=/bin/sh",
            *settings,
        ]
        printed = walk.shell(shlex.join([*words, "/bin/sh", "-c", there]))
        assert "clock" in printed or command == commands[1]
        assert walk.tables("leads_prod")["leads"] == expected_rows(
            walk.sandbox,
            "leads",
        )


def make_image(walk: Walk, installed: Path) -> Path:
    """Do the steps of the Dockerfile without Docker; return the home folder."""
    context = walk.shell.project
    for path in (SCRIPT, DOCKER / "Dockerfile"):
        shutil.copy(path, context)
    shutil.copytree(installed / "clone/dist", context / "dist")
    home = walk.shell.folder / "home"
    (home / "leads").mkdir(parents=True)
    variables = {
        "HOME": str(home),
        "UV_TOOL_DIR": f"{home}/tools",
        "UV_CACHE_DIR": walk.shell("uv cache dir").strip(),
        "UV_TOOL_BIN_DIR": f"{home}/.local/bin",
    }
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
    utility = {
        "name": "own",
        "namespace": "own",
        "pip_url": "./own",
        "executable": "own",
    }
    project["plugins"]["utilities"] = [utility]
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
    walk.shell(
        *lines,
        " ".join(command),
        folder=home / "leads",
    )
    for stream in STREAMS:
        assert walk.tables()[stream] == expected_rows(walk.sandbox, stream)
    states = walk.ask("SELECT state_id FROM public.state")
    assert states == [("dev:tap-leadintent-to-target-postgres",)]
