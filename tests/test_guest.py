"""The tap as a guest: used as a class, in a program that is not its own."""

import json
import logging
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, TIMEOUT, VALID, Json, ids_of, only
from tests.support.pages import ROOT, blocks, section
from tests.support.servers import listening, saying_nothing

PROGRAM = """
import atexit, json, sys
from tap_leadintent.tap import TapLeadIntent
atexit.register(print, "atexit ran", file=sys.stderr)
try:
    TapLeadIntent(config=json.loads(sys.argv[1])).sync_all()
finally:
    print("finally ran", file=sys.stderr)
"""


def surroundings() -> list[object]:
    """Return what belongs to the program that the tap is used in."""
    found: list[object] = [
        signal.getsignal(signal.SIGINT),
        signal.getsignal(signal.SIGTERM),
        signal.getsignal(signal.SIGALRM),
        signal.getitimer(signal.ITIMER_REAL),
        sys.excepthook,
    ]
    for name in (None, "host", "urllib3"):
        logger = logging.getLogger(name)
        found += [
            logger.level,
            [*logger.filters],
            [*logger.handlers],
        ]
    for handler in logging.getLogger().handlers:
        found += [
            handler.level,
            [*handler.filters],
            handler.formatter,
        ]
    return found


def test_nothing_of_the_host_is_changed(config: Json) -> None:
    before = surroundings()
    tap = TapLeadIntent(config=config)
    assert surroundings() == before
    tap.sync_all()
    assert surroundings() == before


def test_ctrl_c_ends_the_host_as_it_ends_any_program() -> None:
    asked = threading.Event()
    with listening(saying_nothing(asked)) as (host, port):
        config = {**VALID, "base_url": f"http://{host}:{port}"}
        process = subprocess.Popen(  # noqa: S603 - our own program
            [
                sys.executable,
                "-c",
                PROGRAM,
                json.dumps(config),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert asked.wait(TIMEOUT)
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=TIMEOUT)
    assert process.returncode == -signal.SIGINT
    *_, last, end = log.splitlines()
    assert "finally ran" in log
    assert last == "KeyboardInterrupt"
    assert end == "atexit ran"


def test_ctrl_c_ends_the_reading_threads(
    sandbox: Sandbox,
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox.configure(
        api_key=API_KEY,
        sizes={"signal_agents": 500},
    )
    tap = TapLeadIntent(
        config={**config, "page_size": 1},
        catalog=only("signal_agents"),
    )

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tap.streams["signal_agents"], "_emit", interrupt)
    before = {*threading.enumerate()}
    # As long as the exception is kept, so are the generators that it went through.
    with pytest.raises(KeyboardInterrupt) as _kept:
        tap.sync_all()
    for thread in {*threading.enumerate()} - before:
        thread.join(TIMEOUT)
        assert not thread.is_alive()
    assert len(sandbox.requests()) < 400


def test_no_line_of_a_tap_has_a_key(
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The formatters are the host's; so the tap's loggers take it out."""
    other_key = "another-key-9d2e"
    seen = list[str]()

    def count(record: logging.LogRecord) -> bool:
        seen.append(record.name)
        return True

    names = ("tap-leadintent", "tap-leadintent.leads")
    loggers = list(map(logging.getLogger, names))
    for logger in loggers:
        monkeypatch.setattr(logger, "filters", [count])

    def explode(*_: object, **__: object) -> None:
        raise ZeroDivisionError(f"cannot cope with Bearer {API_KEY}")

    monkeypatch.setattr("requests.Session.send", explode)
    tap = TapLeadIntent(config=config)
    for _ in range(2):
        TapLeadIntent(config={**config, "api_key": other_key})
    for logger in loggers:
        assert len(logger.filters) == 2
    with pytest.raises(Exception, match="a bug of the tap") as failed:
        tap.sync_all()
    for logger in loggers:
        logger.warning("about %s and %s\x1b[2J", API_KEY, other_key)
    assert {*seen} == {*names}
    assert "a bug of the tap" in caplog.text
    assert caplog.text.count("about *** and ***\\x1b[2J") == len(loggers)
    for text in (caplog.text, *caplog.messages, str(failed.value)):
        assert API_KEY not in text


def test_the_recipe_shows_rows_and_goes_on_from_a_state(
    sandbox: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What came since a time that is long ago would be read again.
    clock = datetime.now(UTC).isoformat()
    sandbox.configure(
        api_key=API_KEY,
        clock=clock,
        sizes={"leads": 150},
    )
    monkeypatch.chdir(tmp_path)
    Path("catalog.json").write_text(json.dumps(only("leads")), encoding="utf-8")
    lines = "".join(blocks(section(ROOT / "docs/recipes.md", "## In Python"), "python"))
    lines = lines.replace("https://api.example.com", sandbox.url)
    lines = lines.replace("the key", API_KEY)
    variables: Json = {}
    written = []
    for _ in range(2):
        exec(lines, variables)  # noqa: S102 - our own page
        output = Path("leads.jsonl").read_text(encoding="utf-8")
        written.append(output.count('"RECORD"'))
    assert len(ids_of(variables["rows"])) == 100
    first, both = written
    assert 100 < first <= 150
    assert both - first < 5
