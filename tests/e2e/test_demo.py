"""The demo, run from the wheel, without a clone."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from dotenv import dotenv_values

from tap_leadintent.demo import __main__ as program
from tap_leadintent.demo import cli, report
from tap_leadintent.demo.postgres import running_postgres
from tests.support.demos import PATIENCE, Demo, family, open_folder, running
from tests.support.environments import Environment, uv
from tests.support.helpers import API_KEY, STREAMS
from tests.support.pages import ROOT
from tests.support.runs import poll

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.sandbox import Sandbox

PICTURE = ROOT / "docs" / "demo.svg"


@pytest.fixture(scope="session")
def installed(packages: Path) -> Iterator[Environment]:
    """An environment with the wheel and its extra, away from the clone."""
    (wheel,) = packages.glob("*.whl")
    with open_folder() as folder:
        environment = Environment(folder / "environment")
        uv("venv", "--python", sys.executable, environment.programs.parent)
        package = f"tap-leadintent[demo] @ {wheel.as_uri()}"
        uv("pip", "install", "--python", environment.python, package)
        yield environment


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder / "the demo"


@pytest.fixture
def demo(folder: Path) -> Iterator[Demo]:
    demo = Demo(folder, Path(sys.executable))
    yield demo
    if demo.process.poll() is None:
        demo.process.terminate()
        demo.finish()


def counts(printed: str) -> dict[str, list[int]]:
    lines = re.findall(r"^(\w+)((?: +[\d,]+){3})\s*$", printed, re.MULTILINE)
    return {
        table: [int(number.replace(",", "")) for number in numbers.split()]
        for table, numbers in lines
    }


def lines_of(picture: Path) -> str:
    """Give what a picture shows, without what differs from run to run."""
    text = unescape(picture.read_text(encoding="utf-8")).replace("\xa0", " ")
    shown = "\n".join(re.findall(r"<text [^>]*>(.*?)</text>", text))
    days = r"\d{4}-\d\d-\d\d|[A-Z][a-z]{2} \d\d"
    return re.sub(rf" *\d+\.\d s|in \d+ s|127\.0\.0\.1:\d+|{days}", "…", shown)


@pytest.mark.long
def test_it_shows_what_the_database_holds_and_leaves_a_project(
    folder: Path, installed: Environment, sandbox: Sandbox, tmp_path: Path
) -> None:
    picture = tmp_path / "demo.svg"
    demo = Demo(folder, installed.python, "--svg", str(picture))
    printed = demo.finish()

    assert demo.process.returncode == 0, printed
    assert "\x1b" not in printed
    assert family(demo.folder) == {}
    rows = counts(printed)
    assert len(rows) == 7
    assert rows["leads"][0] == 1234
    assert all(after - before == more >= 0 for before, after, more in rows.values())
    assert f"{rows['leads'][2]} new leads" in printed
    assert re.search(r"[1-9]\d* leads with a new signal", printed)
    assert "date_found    |####" in printed
    with (
        running_postgres(folder / "postgres") as postgres,
        postgres.connect() as connection,
    ):
        assert report.row_counts(connection) == {t: n for t, (_, n, _) in rows.items()}
    assert_log_is_short(folder / "meltano.log")
    # README's picture is of this very run.
    assert lines_of(picture) == lines_of(PICTURE)

    assert_one_can_go_on(folder, sandbox, printed)


def assert_log_is_short(path: Path) -> None:
    """Assert that the tap says little in each run beside how far it has come."""
    log = path.read_text(encoding="utf-8")
    runs = [run.splitlines() for run in log.split("Running job with name")[1:]]
    assert len(runs) == 2
    for lines in runs:
        said = [line for line in lines if "] tap-leadintent " in line]
        progress = [line for line in said if " records a second" in line]
        assert len(progress) == 7
        assert len(said) - len(progress) < 10
        assert "METRIC" not in "".join(said)


def assert_one_can_go_on(folder: Path, sandbox: Sandbox, printed: str) -> None:
    """Assert that the lines that the demo prints load another API."""
    lines = [line.strip() for line in printed.splitlines()]
    (start,) = (line for line in lines if " --postgres " in line)
    begin = next(n for n, line in enumerate(lines) if line.startswith("cd "))
    others = lines[begin : lines.index("", begin)]
    assert len(others) == 6
    # README's lines, which set the same, have a test of their own.
    others = [line for line in others if not line.startswith("meltano config set ")]
    sandbox.configure(
        api_key=API_KEY,
        since="2026-01-02T00:00:00Z",
        sizes=dict.fromkeys(STREAMS, 20),
    )
    own = {"TAP_LEADINTENT_BASE_URL": sandbox.url, "TAP_LEADINTENT_API_KEY": API_KEY}
    with subprocess.Popen(  # noqa: S602 - what the demo printed
        f"exec {start}", shell=True, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        assert "until Ctrl-C" in server.stdout.readline()
        url = dotenv_values(folder / ".env")["TARGET_POSTGRES_SQLALCHEMY_URL"]
        assert url
        done = subprocess.run(  # noqa: S603 - what the demo printed
            ["/bin/sh", "-e", "-c", "\n".join(others)],
            env={"PATH": os.defpath, "NO_PROXY": "*", **own},
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        address = url.replace("+psycopg", "").replace("postgres:@", "postgres@")
        with psycopg.connect(address) as connection:
            query = "SELECT count(*) FROM tap_leadintent.leads"
            assert connection.execute(query).fetchall() == [(20,)]
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 130


@pytest.mark.long
def test_leaves_no_process_when_terminated(demo: Demo) -> None:
    demo.wait_for("target-postgres")
    demo.process.terminate()

    assert "Nothing that the demo started is left running" in demo.finish()
    assert demo.process.returncode == 128 + signal.SIGTERM
    assert family(demo.folder) == {}


def test_ctrl_c_on_a_terminal_leaves_it_as_it_was_and_no_process(folder: Path) -> None:
    ours, theirs = pty.openpty()
    screen = bytearray()
    with subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "tap_leadintent.demo", folder],
        env={
            **os.environ,
            "TERM": "xterm",
            "COLUMNS": "30",
            "DEMO_UNDER_TEST": str(folder),
        },
        start_new_session=True,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)

        def shown() -> bytes:
            try:
                screen.extend(os.read(ours, 1 << 16))
            except OSError:  # The other end is closed.
                return bytes(screen)
            return bytes(screen)

        poll(lambda: b"Install" in shown() and bool(running("uv", folder)))
        process.send_signal(signal.SIGINT)
        poll(lambda: b"left running" in shown())
        assert process.wait(PATIENCE) == 130
    os.close(ours)
    assert family(folder) == {}
    # The cursor, which the live line hides, is there again.
    assert screen.rindex(b"\x1b[?25h") > screen.rindex(b"\x1b[?25l")


def test_shows_the_log_of_a_step_that_fails(folder: Path, tmp_path: Path) -> None:
    # Nothing can be installed from an empty cache without a network.
    alone = {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path)}
    demo = Demo(folder, Path(sys.executable), **alone)

    printed = demo.finish()
    assert demo.process.returncode == 1
    assert "The demo failed: meltano install" in printed
    assert "network was disabled" in printed
    assert family(demo.folder) == {}


def test_folders_above_the_data_are_as_open_as_before(folder: Path) -> None:
    # When root runs it, PostgreSQL runs as another user, who must be able to enter.
    folder.mkdir(0o700)
    with running_postgres(folder / "postgres") as postgres:
        postgres.connect().close()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_with_other_content_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "stop_on_signals", lambda: None)
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    assert cli.main([str(tmp_path)]) == 1
    assert f"{tmp_path} is not empty; name another folder" in capsys.readouterr().err
    (tmp_path / ".demo.lock").touch()
    (tmp_path / "meltano.yml").write_text("mine", encoding="utf-8")
    assert cli.main([str(tmp_path)]) == 1
    assert "there is a project in" in capsys.readouterr().err
    assert (tmp_path / "meltano.yml").read_text(encoding="utf-8") == "mine"
    assert cli.main(["--psql", str(tmp_path)]) == 1
    assert "there is no data in" in capsys.readouterr().err


def test_without_its_extra_a_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [*sys.modules]:
        if name.startswith("tap_leadintent.demo."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == (
        "demo: psycopg is not installed; run\n  pip install 'tap-leadintent[demo]'"
    )
