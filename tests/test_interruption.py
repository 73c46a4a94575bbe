"""How a process ends: by its exit code, and soon after a signal."""

from __future__ import annotations

import signal
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from tap_leadintent import interruption as module
from tap_leadintent.__main__ import main
from tap_leadintent.interruption import Interruption

if TYPE_CHECKING:
    from collections.abc import Callable


class EndError(BaseException):
    """Stands for the end of the process, with its exit code."""


@pytest.fixture(autouse=True)
def _no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(code: int) -> NoReturn:
        raise EndError(code)

    monkeypatch.setattr("os._exit", end)


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (SystemExit(), 0, ""),
        (SystemExit(143), 143, ""),
        (SystemExit("a text"), 1, "a text\n"),
        (ZeroDivisionError("a mistake"), 1, "a mistake"),
    ],
    ids=repr,
)
def test_the_exit_code_is_that_of_any_python_program(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    code: int,
    said: str,
) -> None:
    def cli() -> NoReturn:
        raise raised

    # Not the class's own `cli`: to look at it sets the log up.
    stub = SimpleNamespace(cli=cli)
    monkeypatch.setattr("tap_leadintent.tap.TapLeadIntent", stub)
    monkeypatch.setattr("logging.shutdown", lambda: None)
    monkeypatch.setattr("sys.excepthook", lambda *of: sys.stderr.write(str(of[1])))
    with pytest.raises(EndError, match=f"^{code}$"):
        main()
    assert said in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_a_signal_ends_the_run_at_the_next_safe_point(
    signum: signal.Signals, code: int
) -> None:
    interruption = Interruption()
    interruption.check()
    interruption.signal(signum)
    with pytest.raises(SystemExit) as ended:
        interruption.check()
    assert ended.value.code == code


def test_a_signal_ends_a_wait() -> None:
    interruption = Interruption()
    with interruption.waiting():
        """None has come."""
    with pytest.raises(SystemExit, match="143"), interruption.waiting():
        interruption.signal(signal.SIGTERM)


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Do what the timer does, which stands still meanwhile."""
    monkeypatch.setattr(module, "LOOKS", 3)
    monkeypatch.setattr("signal.setitimer", lambda *_: None)
    return lambda: signal.raise_signal(signal.SIGALRM)


@pytest.mark.parametrize("taken", [[1, 1, 1], [1, 1, 2, 2, 3, 3, 3]])
def test_the_process_ends_once_the_target_takes_nothing_more(
    look: Callable[[], Any], taken: list[int]
) -> None:
    rest = iter([*taken, taken[-1]])
    Interruption(lambda: next(rest)).signal(signal.SIGTERM)
    for _ in taken:
        look()
    with pytest.raises(EndError, match="143"):
        look()
