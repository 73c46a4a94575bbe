"""How a process ends: by its exit code, and soon after a signal."""

import signal
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import requests_mock

from tap_leadintent.__main__ import main
from tap_leadintent.singer.interruption import Interruption
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID

SECRET = "what an error may quote"  # noqa: S105 - of a test


def failing(error: BaseException) -> Callable[[], None]:
    def cli() -> None:
        raise error

    return cli


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit codes with which the process would have ended."""
    codes: list[int] = []
    monkeypatch.setattr("os._exit", codes.append)
    return codes


@pytest.mark.parametrize(
    ("cli", "code", "message"),
    [
        (failing(SystemExit()), 0, ""),
        (failing(SystemExit(143)), 143, ""),
        (failing(ZeroDivisionError(SECRET)), 1, "ZeroDivisionError, which is a bug "),
        (lambda: signal.raise_signal(signal.SIGINT), 130, ""),
        (lambda: signal.raise_signal(signal.SIGTERM), 143, ""),
    ],
    ids=["ended", "stopped", "mistaken", "SIGINT early", "SIGTERM early"],
)
def test_the_exit_code_is_that_of_any_program(  # noqa: PLR0913, PLR0917 - fixtures
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    codes: list[int],
    cli: Callable[[], None],
    code: int,
    message: str,
) -> None:
    # The class's own `cli` would set the log up as soon as it is read.
    stub = SimpleNamespace(cli=cli)
    monkeypatch.setattr("tap_leadintent.tap.TapLeadIntent", stub)
    monkeypatch.setattr("logging.shutdown", lambda: None)
    entry: Any = main
    entry()
    assert codes[0] == code
    assert message in caplog.text
    assert SECRET not in caplog.text + capsys.readouterr().err


def test_a_signal_ends_the_run_at_a_safe_point_and_a_second_one_at_once(
    codes: list[int],
) -> None:
    interruption = Interruption()
    interruption.install()
    interruption.raise_if_interrupted()
    signal.raise_signal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        interruption.raise_if_interrupted()
    assert ended.value.code == 143
    assert codes == []
    signal.raise_signal(signal.SIGINT)
    assert codes == [130]


@pytest.mark.usefixtures("codes")
def test_after_a_signal_no_page_is_requested() -> None:
    stream: Any = TapLeadIntent(config={**VALID}).streams["leads"]
    stream.run_context.interruption.install()
    signal.raise_signal(signal.SIGTERM)
    with requests_mock.Mocker() as api, pytest.raises(SystemExit):
        stream.check()
    assert not api.called


def test_the_process_ends_when_the_target_takes_nothing_more(
    codes: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timers: list[tuple[float, ...]] = []
    monkeypatch.setattr("signal.setitimer", lambda _, *times: timers.append(times))
    idle = [2] * 7
    taken = [1, 1, 1, 1, 2, *idle]
    checks = iter(taken)
    Interruption(lambda: next(checks)).install()
    signal.raise_signal(signal.SIGTERM)
    for _ in taken:
        assert codes == []
        signal.raise_signal(signal.SIGALRM)
    assert codes == [143]
    ((first, interval),) = timers
    assert first == interval
    assert len(idle) * interval < 2, "docs/runs.md promises two seconds"
