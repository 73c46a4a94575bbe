"""What the tests share that stop runs midway, or resume them."""

import fcntl
import json
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from threading import Timer
from typing import Any

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.options import three_weeks_ago
from tests.support.helpers import (
    API_KEY,
    STREAMS,
    TIMEOUT,
    Run,
    assert_keeps_secret,
    options,
)


def _shifted(time: str, days: float) -> str:
    moved = datetime.fromisoformat(time) + timedelta(days)
    return f"{moved.isoformat()[:19]}Z"


CLOCK = three_weeks_ago()
"""Where the sandbox's clock stands at first; it is behind that of any machine."""

SINCE = _shifted(CLOCK, -365)
"""Where the sandbox's history begins."""

DAY = 86_400

SIGNALS = {signal.SIGTERM: 143, signal.SIGINT: 130}
"""What ends a run, and the exit code that tells so."""

Span = tuple[datetime, datetime]


def after_since(days: float) -> str:
    """Return the time so many days after the sandbox's history begins."""
    return _shifted(SINCE, days)


def fill(
    sandbox: Sandbox,
    *,
    latency: float = 0,
    **sizes: int,
) -> None:
    """Let the sandbox show so many records of these streams, and none of others."""
    sandbox.configure(
        api_key=API_KEY,
        clock=CLOCK,
        latency_seconds=latency,
        sizes={
            **dict.fromkeys(STREAMS, 0),
            **sizes,
        },
    )


def poll(until: Callable[[], bool], seconds: float = TIMEOUT) -> None:
    """Wait until something is so, but not forever."""
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


class TapProcess:
    """A process of the tap, whose output is read only as far as a test wants."""

    def __init__(
        self,
        folder: Path,
        config: Mapping[str, Any],
        *arguments: str,
        catalog: Mapping[str, Any] | None = None,
        state: object = None,
    ) -> None:
        self._lines: list[bytes] = []
        self._key = config.get("api_key")
        self._stderr = folder / "stderr.txt"
        given = options(
            folder,
            config=config,
            catalog=catalog,
            state=state,
        )
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "tap_leadintent", *arguments, *given],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )

    @property
    def stderr(self) -> str:
        """What it has logged until now."""
        return self._stderr.read_text(encoding="utf-8")

    def read(self, lines: int) -> None:
        """Read so many lines, or to the end."""
        assert self.process.stdout
        for _ in range(lines):
            self._lines.append(self.process.stdout.readline())

    def read_until(
        self,
        kind: str,
        count: int,
    ) -> None:
        """Read until so many messages of a kind have come."""
        while count:
            self.read(1)
            assert self._lines[-1], "the output ended"
            count -= json.loads(self._lines[-1])["type"] == kind

    def finish(
        self,
        number: signal.Signals | None = None,
        *,
        reads_on: bool = True,
    ) -> Run:
        """Send a signal, if any; then read to the end, unless the target is gone."""
        assert self.process.stdout
        hangs = Timer(TIMEOUT, self.process.kill)
        hangs.start()
        with self.process.stdout as stdout:
            if not reads_on:
                stdout.close()
            if number is not None:
                self.process.send_signal(number)
            remaining = stdout.read() if reads_on else b""
        code = self.process.wait()
        hangs.cancel()
        # A process that is killed may have written a part of a character.
        torn = "replace" if number == signal.SIGKILL else "strict"
        content = b"".join([*self._lines, remaining])
        output = content.decode(errors=torn)
        assert_keeps_secret(self._key, output, self.stderr)
        return Run(code, output, self.stderr)

    def end(self, number: signal.Signals) -> Run:
        """Send a signal, and wait for the end without reading.

        A test lets the process wait for something that never comes, so its end shows
        that it does not wait for it. How soon it ends is tested in `test_interruption`,
        where a busy machine makes nothing longer.
        """
        self.process.send_signal(number)
        try:
            poll(lambda: self.process.poll() is not None)
        finally:
            ended = self.process.poll() is not None
            run = self.finish(None if ended else signal.SIGKILL)
        return run


def wait_for_a_full_pipe(process: TapProcess) -> None:
    """Wait until the pipe takes nothing more."""
    pipe = process.process.stdout
    assert pipe
    sizes: list[int] = []

    def stands_still() -> bool:
        waiting = fcntl.ioctl(
            pipe,
            termios.FIONREAD,
            bytes(4),
        )
        sizes.append(int.from_bytes(waiting, "little"))
        # No pipe is full with less. What comes before the first record is less, too.
        if sizes[-1] < 2**14:
            return False
        # A second, as a busy machine lets a process stand still for a while.
        last = sizes[-50:]
        return len(sizes) > 50 and len({*last}) == 1

    poll(stands_still)


def covered(
    state: Any,
    stream: str,
    name: str,
) -> list[Span]:
    """Return the intervals of a range that a state covers."""
    spans = []
    bookmark = state["bookmarks"].get(stream, {})
    for entry in bookmark.get("coverage", []):
        if entry.get("range") == name:
            start = datetime.fromisoformat(entry["from"])
            end = datetime.fromisoformat(entry["to"])
            spans.append((start, end))
    return spans


def found_at(sandbox: Sandbox) -> dict[str, datetime]:
    """Return when each lead was found."""
    times: dict[str, datetime] = {}
    for lead, at in sandbox.times("leads").items():
        times[lead] = datetime.fromisoformat(at["found_at"])
    return times


def checkpoints(run: Run, stream: str) -> Iterator[tuple[Any, frozenset[str]]]:
    """Yield each STATE of a run with the ids of a stream written before it."""
    written: set[str] = set()
    for message in run.messages:
        if message["type"] == "STATE":
            yield message["value"], frozenset(written)
        elif message["type"] == "RECORD" and message["stream"] == stream:
            written.add(message["record"]["id"])


def assert_states_are_true(run: Run, sandbox: Sandbox) -> None:
    """Assert that no STATE covers a lead that was not written before it."""
    found = found_at(sandbox)
    for state, written in checkpoints(run, "leads"):
        unwritten = [found[lead] for lead in found.keys() - written]
        for start, end in covered(state, "leads", "date_found"):
            assert not any(start <= time < end for time in unwritten)


def assert_ended_cleanly(run: Run, number: signal.Signals) -> None:
    """Assert that a signal ended it, and the output is whole."""
    assert run.code == SIGNALS[number], run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout.endswith("\n")
