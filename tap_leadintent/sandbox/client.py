"""Start a sandbox in a process of its own, and control it from Python."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests

_TIMEOUT = 60


class Sandbox:
    """A running sandbox.

    It returns its own records and those that a test inserts, and fails when a test
    asks for it:

        >>> with running_sandbox("--clock", "2026-03-01T00:00:00Z") as sandbox:
        ...     sandbox.insert("leads", {"id": "ada", "full_name": "Ada Best"})
        ...     sandbox.advance(3600)
        ...     sandbox.faults({"kind": "status", "status": 503, "times": 2})
        ['ada']
        '2026-03-01T01:00:00Z'

    Attributes:
        url: Its address, which the tap takes as `base_url`.
    """

    def __init__(self, url: str) -> None:
        """Control the sandbox at an address."""
        self.url = url

    def now(self) -> str:
        """Return the time of the clock, as ISO 8601."""
        clock = self._call("GET", "clock")
        return str(clock["now"])

    def advance(self, seconds: float) -> str:
        """Move the clock forward and return the new time."""
        clock = self._call(
            "POST",
            "clock",
            {"advance_seconds": seconds},
        )
        return str(clock["now"])

    def configure(self, **options: Any) -> None:
        """Start again with options (see `Options`), an empty log and no faults."""
        self._call("POST", "configure", options)

    def records(self, stream: str) -> list[Any]:
        """Return all records of a stream that the API returns now."""
        answer = self._call("GET", f"records?stream={stream}")
        return list(answer["records"])

    def times(self, stream: str) -> dict[str, dict[str, str]]:
        """Return the times of a stream's records by id (see `Endpoint.times`)."""
        answer = self._call("GET", f"records?stream={stream}")
        return dict(answer["times"])

    def insert(
        self,
        stream: str,
        *records: Any,
        **times: str,
    ) -> list[str]:
        """Insert or replace records and return their ids.

        Args:
            stream: The stream.
            records: Any JSON values. A text is JSON that is served byte for byte.
            times: `found_at`, `observed_at` or `activity_at` of all (ISO 8601).
        """
        body = {
            "stream": stream,
            "records": records,
            **times,
        }
        answer = self._call("POST", "records", body)
        return list(answer["ids"])

    def remove(self, stream: str, *ids: str) -> list[str]:
        """Remove records by id and return the ids of those that existed."""
        body = {
            "stream": stream,
            "ids": ids,
        }
        answer = self._call("DELETE", "records", body)
        return list(answer["removed"])

    def requests(self) -> list[dict[str, Any]]:
        """Return the log of requests to the API (see `Logged`)."""
        answer = self._call("GET", "requests")
        return list(answer["requests"])

    def clear_requests(self) -> None:
        """Empty the log."""
        self._call("DELETE", "requests")

    def faults(self, *rules: Mapping[str, Any]) -> None:
        """Replace all faults by these."""
        self._call("POST", "faults", {"faults": rules})

    def _call(
        self,
        method: str,
        route: str,
        body: object = None,
    ) -> Any:  # noqa: ANN401
        url = f"{self.url}/_sandbox/{route}"
        with requests.Session() as session:
            # Proxies of the environment must not be used for a local server.
            session.trust_env = False
            response = session.request(
                method,
                url,
                json=body,
                timeout=_TIMEOUT,
            )
        if not response.ok:
            raise ValueError(f"{method} {route}: {response.text}")
        return response.json()


@contextmanager
def running_sandbox(*arguments: str) -> Iterator[Sandbox]:
    """Run a sandbox on a free port of this machine, until the context ends.

    Args:
        arguments: Arguments of the command line, such as `"--leads", "5000"`.

    Yields:
        The sandbox, which already accepts connections.

    Raises:
        RuntimeError: It did not start.

    Examples:
        >>> with running_sandbox("--leads", "5") as sandbox:
        ...     len(sandbox.records("leads"))
        5
    """
    command = [
        sys.executable,
        "-m",
        "tap_leadintent.sandbox",
        "--port=0",
    ]
    with subprocess.Popen(  # noqa: S603 - our own module
        [*command, *arguments],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                code = process.wait()
                raise RuntimeError(f"the sandbox ended with exit code {code}")
            url = line.strip()
            yield Sandbox(url)
        finally:
            process.terminate()
