"""Real rate limits: the tap finds their pace by itself."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.e2e.gateways.conftest import HERE, Installed
from tests.support.helpers import API_KEY, exact_json, ids_of, only, options
from tests.support.runs import CLOCK, SINCE, fill

PAGE = 10
"""Records in a page, so that many pages hold few records."""


def steady(rate: float, burst: int = 0) -> Callable[[int], float]:
    """Return how many seconds so many pages take at least, so many a second."""
    return lambda pages: (pages - 1 - burst) / rate


def windows(size: int, seconds: float) -> Callable[[int], float]:
    """Return the same for a limit of so many in each window of so many seconds."""
    return lambda pages: (pages - 1) // size * seconds


@dataclass(frozen=True)
class Limiter:
    """A server that limits how many requests may come."""

    command: Sequence[str]
    least: Callable[[int], float]
    """Returns the least seconds that so many pages take."""
    config: str = ""
    """The name of its configuration, if it needs one."""
    burst: str = ""
    """What its configuration says about bursts."""
    pages: int = 600
    """About how many are read."""


NGINX = ("nginx", "-c", "{config}", "-e", "{folder}/error.log")

LIMITERS = {
    "nginx": Limiter(NGINX, steady(5), "nginx.conf"),
    "nginx with a burst": Limiter(NGINX, steady(5, 10), "nginx.conf", " burst=10"),
    "nginx with a burst at once": Limiter(
        NGINX,
        steady(5, 10),
        "nginx.conf",
        " burst=10 nodelay",
    ),
    "haproxy": Limiter(("haproxy", "-f", "{config}"), steady(5), "haproxy.cfg"),
    "litestar": Limiter(
        ("{python}", "limiters/with_litestar.py", "{port}", "{upstream}"),
        windows(60, 60),
        pages=480,
    ),
    "slowapi": Limiter(
        ("{python}", "limiters/with_slowapi.py", "{port}", "{upstream}"),
        windows(60, 60),
        pages=480,
    ),
    "express": Limiter(
        ("node", "limiters/express.mjs", "{port}", "{upstream}"),
        windows(30, 6),
    ),
    "nest": Limiter(
        ("node", "limiters/nest.mjs", "{port}", "{upstream}"),
        windows(30, 6),
    ),
}


@pytest.mark.parametrize("max_retries", [8, 0])
@pytest.mark.parametrize("name", LIMITERS)
def test_a_limit_is_kept_without_a_setting(
    installed: Installed,
    server: Sandbox,
    tmp_path: Path,
    name: str,
    max_retries: int,
) -> None:
    limiter = LIMITERS[name]
    # Some pages are not full.
    fill(server, latency=0.05, leads=int(limiter.pages * PAGE * 0.85))
    template = HERE / "limiters" / limiter.config if limiter.config else None
    with installed.serving(
        limiter.command,
        server.url,
        template,
        burst=limiter.burst,
    ) as url:
        config = {
            "base_url": url,
            "api_key": API_KEY,
            "start_date": SINCE,
            # So that it reads one time range.
            "end_date": CLOCK,
            "page_size": PAGE,
            "max_retries": max_retries,
        }
        given = options(tmp_path, config=config, catalog=only("leads"))
        run = subprocess.run(  # noqa: S603 - the tap itself
            [sys.executable, "-m", "tap_leadintent", *given],
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=1_000,
        )
    assert run.returncode == 0, run.stderr
    ids = set()
    for line in run.stdout.splitlines():
        message = exact_json(line)
        if message["type"] == "RECORD":
            ids.add(message["record"]["id"])
    assert ids == ids_of(server.records("leads"))
    pages = len(server.requests())
    # Without the start of the process.
    found = re.search(r"leads: .* ([\d,]+) requests, .*?([\d,.]+) s;", run.stderr)
    assert found, run.stderr
    requests = int(found[1].replace(",", ""))
    seconds = float(found[2].replace(",", ""))
    least = limiter.least(pages)
    figures = f"{pages} pages, {requests - pages} refused, {seconds:.0f} of {least} s"
    print(f"{name}, {max_retries}: {figures}\n{run.stderr}")  # noqa: T201 - for -rP
    assert pages >= 0.8 * limiter.pages
    assert requests - pages <= 0.1 * requests
    assert seconds <= 1.3 * least
