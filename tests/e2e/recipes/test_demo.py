"""The demo, run from the wheel without a clone."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
import yaml
from dotenv import dotenv_values

from tap_leadintent.demo import project
from tap_leadintent.demo.postgres import running_postgres
from tap_leadintent.sandbox import Sandbox
from tests.support.environments import uv
from tests.support.helpers import API_KEY, STREAMS, TIMEOUT, prefixed
from tests.support.runs import SINCE, poll
from tools.demos import PICTURE, family, open_folder, start


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder / "the demo"


@pytest.mark.long
def test_the_demo_shows_the_database_and_leaves_a_project(
    folder: Path,
    packages: Path,
    sandbox: Sandbox,
) -> None:
    (wheel,) = packages.glob("*.whl")
    uv("venv", "--python", sys.executable, folder.parent / "environment")
    python = folder.parent / "environment/bin/python"
    package = f"tap-leadintent[demo] @ {wheel.as_uri()}"
    uv("pip", "install", "--python", python, package)
    demo = start(python, folder)
    printed, _ = demo.communicate(timeout=TIMEOUT)
    assert demo.returncode == 0, printed
    assert family(folder) == []
    table = re.findall(r"^(\w+) +([\d,]+) +([\d,]+) +(\d+)$", printed, re.MULTILINE)
    rows: dict[str, int] = {}
    for name, _, now, _ in table:
        rows[name] = int(now.replace(",", ""))
    assert rows.keys() == set(STREAMS)
    with (
        running_postgres(folder / "postgres") as postgres,
        postgres.connect() as connection,
    ):
        for name, count in rows.items():
            query = f"SELECT count(*) FROM demo.{name}"  # noqa: S608 - of STREAMS
            assert connection.execute(query.encode()).fetchall() == [(count,)]
    # The picture in README shows such a run.
    found = re.search(r"leads +1,234 .*", printed)
    assert found
    drawn = re.findall(">(.*)</text>", PICTURE.read_text(encoding="utf-8"))
    assert {*found[0].split()} <= {*drawn}

    # The printed lines load another API. Those of the pages have a test of their own.
    steps, _, removal = printed.partition("To continue")[2].partition(
        "The demo leaves "
    )
    lines = re.findall(r"^  (\S.*)$", steps, re.MULTILINE)
    first, *others = (line for line in lines if " config set " not in line)
    sandbox.configure(
        api_key=API_KEY,
        sizes=dict.fromkeys(STREAMS, 20),
    )
    read = {
        "BASE_URL": sandbox.url,
        "API_KEY": API_KEY,
        "START_DATE": SINCE,
    }
    own = prefixed(read)
    with subprocess.Popen(  # noqa: S602 - what the demo printed
        f"exec {first}",
        shell=True,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout
        assert "until Ctrl-C" in server.stdout.readline()
        url = dotenv_values(folder / ".env")["TARGET_POSTGRES_SQLALCHEMY_URL"]
        assert url
        subprocess.run(  # noqa: S603
            [
                "/bin/sh",
                "-e",
                "-c",
                "\n".join(others),
            ],
            env=own,
            check=True,
        )
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            query = "SELECT count(*) FROM tap_leadintent.leads"
            assert connection.execute(query).fetchall() == [(20,)]
        server.send_signal(signal.SIGINT)
        assert server.wait(TIMEOUT) == 130
    # The user of the system stays, as other tests run their databases as it.
    remove, *_ = removal.splitlines()[-1].split(" && userdel ")
    subprocess.run(["/bin/sh", "-c", remove], check=True)  # noqa: S603
    assert not folder.exists()


@pytest.mark.long
def test_no_process_is_left_when_the_demo_is_stopped(folder: Path) -> None:
    demo = start(sys.executable, folder)
    # Meltano has started it, beside the sandbox and PostgreSQL.
    poll(lambda: any(re.match(r"\S*\buv ", each) for each in family(folder)))
    demo.send_signal(signal.SIGTERM)
    printed, _ = demo.communicate(timeout=TIMEOUT)
    assert "Nothing that the demo started is left running" in printed
    assert demo.returncode == 143
    assert family(folder) == []


def test_the_log_of_a_failed_step_is_shown(folder: Path, tmp_path: Path) -> None:
    # Nothing can be installed from an empty cache without a network.
    alone = {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path)}
    demo = start(sys.executable, folder, **alone)
    printed, _ = demo.communicate(timeout=TIMEOUT)
    assert demo.returncode == 1
    assert "The demo failed: meltano install" in printed
    assert "network was disabled" in printed
    assert family(folder) == []


def test_folders_above_the_data_keep_their_rights(folder: Path) -> None:
    # For root, PostgreSQL runs as another user, who must be able to enter the folder.
    folder.mkdir(0o700)
    with running_postgres(folder / "postgres") as postgres:
        postgres.connect().close()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_with_other_files_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    demo = start(sys.executable, tmp_path)
    assert f"{tmp_path} is not empty; name another folder" in demo.communicate()[0]
    assert demo.returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("origin", "package"),
    [
        (
            {
                "url": "file:///a%20b",
                "dir_info": {"editable": True},
            },
            "-e '/a b'",
        ),
        (
            {
                "url": "https://a.b/c",
                "vcs_info": {"vcs": "git", "commit_id": "1f"},
            },
            "tap-leadintent@git+https://a.b/c@1f",
        ),
    ],
)
def test_the_tap_is_installed_from_the_source_of_the_demo(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    origin: object,
    package: str,
) -> None:
    installed = SimpleNamespace(read_text=lambda _name: json.dumps(origin))
    monkeypatch.setattr(project, "distribution", lambda _name: installed)
    project.write_project(tmp_path)
    written = yaml.safe_load((tmp_path / "meltano.yml").read_text(encoding="utf-8"))
    assert written["plugins"]["extractors"][0]["pip_url"] == package
