"""What every test can ask for: a sandbox, a configuration, runs of the tap."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from click.testing import Result
from jsonschema import Draft202012Validator

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.options import Options
from tests.support.helpers import (
    API_KEY,
    PREFIX,
    STREAMS,
    Clock,
    Json,
    Run,
    assert_keeps_secret,
    enter,
    options,
)
from tests.support.in_process import run_in_process, sandbox_in_process
from tests.support.model_runs import DEFAULTS
from tests.support.runs import CLOCK, SINCE

# Only the environments of Meltano and the loaders have the extra `demo`.
pytest_plugins = ["tests.support.databases"] if find_spec("meltano") else []

# An example may take as long as it does: the machine may be busy. The environment
# `thorough` tries many more of them.
hypothesis.settings.register_profile(
    "quick",
    deadline=None,
    max_examples=20,
)
hypothesis.settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=500,
)
hypothesis.settings.load_profile("quick")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that take long before all others."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(
    autouse=True,
    scope="session",
)
def _no_proxy() -> Iterator[None]:
    """Keep a proxy of the environment out of what is local."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "*")
        yield


@pytest.fixture(
    autouse=True,
    scope="session",
)
def _once() -> Iterator[None]:
    """Do once what takes long, and what each run in this process would do again.

    A run checks the schemas of its catalog, and looks for versions on the disk.
    """
    checked: set[str] = set()
    check = Draft202012Validator.check_schema

    def check_once(schema: Any) -> None:
        text = json.dumps(schema)
        if text not in checked:
            check(schema)
            checked.add(text)

    with pytest.MonkeyPatch.context() as patch:
        once = staticmethod(check_once)
        patch.setattr(Draft202012Validator, "check_schema", once)
        patch.setattr(metadata, "version", cache(metadata.version))
        yield


@pytest.fixture(autouse=True)
def _no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep certificates of the environment out of what sends nothing.

    Each run would read them, which takes longer than most runs.
    """
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(variable, raising=False)


# A shell's background job ignores Ctrl-C, and so would all that tests start in it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_HANDLERS = {
    signal.SIGINT: signal.getsignal(signal.SIGINT),
    signal.SIGTERM: signal.getsignal(signal.SIGTERM),
}


@pytest.fixture(autouse=True)
def _signal_handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what the command line sets, so that Ctrl-C ends the tests."""
    monkeypatch.setattr("signal.setitimer", lambda *_: None)
    yield
    for number, handler in _HANDLERS.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def server() -> Iterator[Sandbox]:
    """One sandbox for all tests of this process, in this process."""
    with sandbox_in_process(Options(clock=CLOCK), "tests") as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(server: Sandbox) -> Sandbox:
    """A sandbox with its default clock, without faults, with three records a stream."""
    server.configure(
        api_key=API_KEY,
        sizes=dict.fromkeys(STREAMS, 3),
    )
    return server


@pytest.fixture
def config(sandbox: Sandbox) -> Json:
    """What the tap needs to read the sandbox."""
    return {
        "base_url": sandbox.url,
        "api_key": API_KEY,
        "start_date": SINCE,
    }


@pytest.fixture(
    params=[1, 8],
    ids="{} at once".format,
)
def concurrency(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> int:
    """Read one window at a time, and several."""
    monkeypatch.setitem(DEFAULTS, "concurrency", request.param)
    return int(request.param)


@pytest.fixture
def clock() -> Clock:
    """A clock on which no time passes but by waiting."""
    return Clock()


@pytest.fixture
def tap(tmp_path: Path) -> Callable[..., Run]:
    """Run the tap in this process; see `run_in_process`."""
    return partial(run_in_process, tmp_path)


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the variables and the `.env` of whoever runs the tests out of them."""
    for variable in os.environ:
        if variable.startswith(PREFIX):
            monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def cli(tmp_path: Path) -> Callable[..., Result]:
    """Enter the tap in this process, with a configuration file."""

    def run(config: Json, *arguments: str) -> Result:
        result = enter(*options(tmp_path, config=config), *arguments)
        assert_keeps_secret(config.get("api_key") or None, result.output)
        return result

    return run
