"""Real gateways and proxies before an API that fails: all rows arrive, or it is said.

Each case has a fault of what stands behind the server, and the words of the log that
say what the server made of it.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from threading import Event, Lock

import pytest
import requests

from tap_leadintent.api.limits import Limits
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.e2e.gateways.conftest import HERE, Installed
from tests.support.helpers import API_KEY, TIMEOUT, Json, Run, ids_of, only
from tests.support.in_process import run_in_process
from tests.support.runs import SINCE, fill
from tests.support.servers import listening, make_certificate, read_request, response

UPSTREAMS = HERE / "upstreams"
PAGE = 5
LEADS = 40
REFUSING = "http://127.0.0.1:9"
"""An address where nobody listens."""


@dataclass
class Upstream:
    """Passes requests on to the sandbox; some of them go wrong."""

    sandbox: Sandbox
    fault: str
    times: int
    """How many requests for a later page go wrong."""

    stopped: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)

    def handle(self, connection: socket) -> None:
        """Answer the requests of a connection."""
        while request := read_request(connection):
            head, _, body = request.partition(b"\r\n\r\n")
            path = head.split()[1].decode()
            answer = requests.post(
                f"{self.sandbox.url}{path}",
                data=body,
                headers={
                    "Authorization": f"Bearer {API_KEY}",
                    "Content-Type": "application/json",
                },
                timeout=TIMEOUT,
            )
            if not self._is_struck(body):
                status = f"{answer.status_code} {answer.reason}"
                connection.sendall(response(answer.content, status=status))
                continue
            if self.fault in {"cut", "stall"}:
                half = answer.content[: len(answer.content) // 2]
                chunk = f"{len(half):x}\r\n".encode() + half + b"\r\n"
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\n" + chunk
                )
            if self.fault in {"slow", "stall"}:
                self.stopped.wait(TIMEOUT)
            return

    def _is_struck(self, body: bytes) -> bool:
        is_later = "after" in json.loads(body)["cursor"]
        with self._lock:
            if not is_later or not self.times:
                return False
            self.times -= 1
            return True


@contextmanager
def upstream(
    sandbox: Sandbox,
    fault: str = "",
    *,
    certificate: Path | None = None,
) -> Iterator[str]:
    """Run an API with a fault; give its address."""
    api = Upstream(sandbox, fault, times=2 if fault else 0)
    with listening(api.handle, certificate) as (host, port):
        try:
            yield f"http{'s' if certificate else ''}://{host}:{port}"
        finally:
            api.stopped.set()


@dataclass(frozen=True)
class Gateway:
    """A server, and what its clients see of the faults behind it."""

    command: Sequence[str]
    config: str | None
    says: dict[str, str]
    """What the log quotes, by the fault; `REFUSED` stands for an API that is down."""


EARLY = r"ended its response early"
HALF = rf"{EARLY}; [^(]* \(HTTP 200 OK, .*Input data was truncated"

UVICORN = (
    *("env", "UPSTREAM={upstream}", "{python}", "-m", "uvicorn"),
    *("--app-dir", "upstreams", "--port", "{port}"),
    *("--log-level", "warning", "with_uvicorn:app"),
)

GATEWAYS = {
    "nginx": Gateway(
        ("nginx", "-c", "{config}", "-e", "{folder}/error.log"),
        "nginx.conf",
        {
            "REFUSED": r"HTTP 502 Bad Gateway, Server nginx/",
            "close": r"HTTP 502 Bad Gateway, Server nginx/",
            "slow": r"HTTP 504 Gateway Time-out, Server nginx/",
            "stall": EARLY,
            "cut": EARLY,
        },
    ),
    "haproxy": Gateway(
        ("haproxy", "-f", "{config}"),
        "haproxy.cfg",
        {
            "REFUSED": r"HTTP 503 Service Unavailable: ",
            # The second, if it is on a connection that was kept open.
            "close": rf"HTTP 502 Bad Gateway: |{EARLY}",
            "slow": r"HTTP 504 Gateway Time-out: ",
            "stall": EARLY,
            "cut": EARLY,
        },
    ),
    "haproxy with a limit": Gateway(
        ("haproxy", "-f", "{config}"),
        "haproxy-deny.cfg",
        {"": r"refuses now what it allowed earlier .*\(HTTP 403 Forbidden: .* of HTML"},
    ),
    "caddy": Gateway(
        (
            *("env", "HOME={folder}", "caddy", "run"),
            *("--config", "{config}", "--adapter", "caddyfile"),
        ),
        "Caddyfile",
        {
            "REFUSED": r"HTTP 502 Bad Gateway, Server Caddy",
            "close": r"HTTP 502 Bad Gateway, Server Caddy",
            "slow": r"HTTP 504 Gateway Timeout, Server Caddy",
            "cut": HALF,
        },
    ),
    "varnish": Gateway(
        (
            *(
                "varnishd",
                "-j",
                "none",
                "-F",
                "-a",
                "127.0.0.1:{port}",
                "-f",
                "{config}",
            ),
            *("-n", "{folder}/varnish", "-s", "malloc,10m"),
        ),
        "varnish.vcl",
        {
            "REFUSED": r"HTTP 503 Backend fetch failed, Server Varnish",
            "close": r"HTTP 503 Backend fetch failed, Server Varnish",
            "slow": r"HTTP 503 Backend fetch failed, Server Varnish",
            "stall": EARLY,
            # On a busy machine, it may notice that before it has sent anything.
            "cut": rf"{EARLY}|HTTP 503 Service Unavailable, Server Varnish",
        },
    ),
    "lighttpd": Gateway(
        ("lighttpd", "-D", "-f", "{config}"),
        "lighttpd.conf",
        {
            "REFUSED": r"HTTP 503 Service Unavailable, Server lighttpd/",
            "close": r"HTTP 500 Internal Server Error, Server lighttpd/",
            "slow": r"HTTP 504 Gateway Timeout, Server lighttpd/",
            "stall": r"HTTP 404 Not Found, Server lighttpd/",
            "cut": HALF,
        },
    ),
    "gunicorn": Gateway(
        (
            *("env", "UPSTREAM={upstream}", "{python}", "-m", "gunicorn"),
            *("--chdir", "upstreams", "--bind", "127.0.0.1:{port}"),
            *("--timeout", "1", "--max-requests", "5", "--workers", "2"),
            *("--log-level", "critical", "with_gunicorn:app"),
        ),
        None,
        {
            # The second, if it takes the second to the time-out.
            "close": rf"HTTP 500 Internal Server Error: |{EARLY}",
            "slow": r"HTTP 500 Internal Server Error: ",
            "cut": rf"HTTP 500 Internal Server Error: |{EARLY}",
        },
    ),
    "uvicorn": Gateway(
        (*UVICORN, "--workers", "2", "--limit-max-requests", "7"),
        None,
        {"close": r"HTTP 500 Internal Server Error, Server uvicorn"},
    ),
    "uvicorn with a limit": Gateway(
        (*UVICORN, "--limit-concurrency", "4"),
        None,
        {"": r"HTTP 503 Service Unavailable, Server uvicorn: "},
    ),
    "uvicorn that recycles itself": Gateway(
        ("sh", "-c", f"while {shlex.join(UVICORN)} --limit-max-requests 7; do :; done"),
        None,
        {
            "": r"cannot be reached any more, though it has answered in this run|"
            + EARLY
        },
    ),
}

CASES: list[tuple[str, str]] = []
for _name, _server in GATEWAYS.items():
    for _fault in _server.says:
        _case = (_name, _fault)
        CASES.append(_case)


@pytest.fixture
def expected(sandbox: Sandbox) -> set[str]:
    """The ids of all leads."""
    fill(sandbox, leads=LEADS)
    return ids_of(sandbox.records("leads"))


class PatientTap(TapLeadIntent):
    """The tap, whose retries wait as long as a server takes to begin again."""

    limits = Limits(longest_backoff=0.5)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Run]:
    """Read leads from an address."""

    def read(url: str, **more: object) -> Run:
        config: Json = {
            "base_url": url,
            "api_key": API_KEY,
            "start_date": SINCE,
            "page_size": PAGE,
            "request_timeout_seconds": 20,
            **more,
        }
        return run_in_process(
            tmp_path,
            config,
            catalog=only("leads"),
            tap=PatientTap,
        )

    return read


def ids(run: Run) -> set[str]:
    return ids_of(run.records("leads"))


@pytest.mark.parametrize(("name", "fault"), CASES)
def test_all_rows_arrive_through_a_gateway(  # noqa: PLR0913, PLR0917 - fixtures
    installed: Installed,
    sandbox: Sandbox,
    expected: set[str],
    read: Callable[..., Run],
    name: str,
    fault: str,
) -> None:
    gateway = GATEWAYS[name]
    config = UPSTREAMS / gateway.config if gateway.config else None
    with ExitStack() as stack:
        is_down = fault == "REFUSED"
        api = REFUSING if is_down else stack.enter_context(upstream(sandbox, fault))
        url = stack.enter_context(installed.serving(gateway.command, api, config))
        run = read(url, max_retries=1 if is_down else 30)
    assert re.search(gateway.says[fault], run.stderr), run.stderr
    if is_down:
        assert "gave up after 2 attempts" in run.failed()
    else:
        assert ids(run.succeeded()) == expected


PROXIES = {
    "squid": (
        ("squid", "-N", "-f", "{config}"),
        "squid.conf",
        "Tunnel connection failed: 503 Service Unavailable",
    ),
    "tinyproxy": (
        ("tinyproxy", "-d", "-c", "{config}"),
        "tinyproxy.conf",
        "Tunnel connection failed: 500 Unable to connect",
    ),
}


@pytest.mark.parametrize("name", PROXIES)
def test_a_forward_proxy(  # noqa: PLR0913, PLR0917 - fixtures
    installed: Installed,
    sandbox: Sandbox,
    expected: set[str],
    read: Callable[..., Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    command, config, down = PROXIES[name]
    certificate = make_certificate(tmp_path)
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with upstream(sandbox, certificate=certificate) as api:
        with installed.serving(command, api, UPSTREAMS / config) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy)
            through = read(api)
            forbidden = read("https://127.0.0.1:9", max_retries=9)
        down_api = REFUSING.replace("http", "https")
        with installed.serving(command, down_api, UPSTREAMS / config) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy)
            refused = read(down_api, max_retries=1)
    assert ids(through.succeeded()) == expected
    assert "403" in forbidden.failed()
    assert "the proxy refuses it" in forbidden.failed()
    assert "; attempt " not in forbidden.stderr
    assert down in refused.stderr
    assert "cannot reach 127.0.0.1:9, which may be down" in refused.failed()
    assert "gave up after 2 attempts" in refused.stderr
