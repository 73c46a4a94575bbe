"""The programs that are compared: how each gets what it is to read."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tap_leadintent.sandbox.options import Options, three_weeks_ago
from tap_leadintent.sandbox.times import format_time
from tests.support.environments import build, uv

PEERS = Path(__file__).with_name("peers")
"""Other ways to read, each with the packages that it requires."""

CLOCK = ("--clock", three_weeks_ago())
"""Where the sandbox's clock stands, as no lead is to appear meanwhile."""

_OPTIONS = Options(clock=CLOCK[1])
_CONFIG = "config.json"


@dataclass(frozen=True, eq=False)
class Client:
    """A program that reads all leads.

    Attributes:
        name: What the table calls it.
        command: Program and arguments; it runs in the folder of its configuration.
        settings: Its configuration, but for the address and the key.
    """

    name: str
    command: tuple[Path | str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def prepare(self, folder: Path, url: str) -> list[str]:
        """Write the configuration.

        Args:
            folder: Where to run.
            url: The sandbox's address.

        Returns:
            The command.
        """
        config = {"base_url": url, "api_key": _OPTIONS.api_key, **self.settings}
        (folder / _CONFIG).write_text(json.dumps(config), encoding="utf-8")
        return [str(word) for word in self.command]


def slices(number: int) -> list[str]:
    """Cut the sandbox's history into ranges of equal length that share no instant."""
    begin, end = _OPTIONS.begin, _OPTIONS.start
    edges = [begin + (end - begin) * n // number for n in range(number + 1)]
    return [f"{format_time(a)}/{format_time(b - 1)}" for a, b in pairwise(edges)]


def leads_only(tap: Path) -> dict[str, Any]:
    """Return the catalog of a program of the tap, with the leads alone."""
    catalog = subprocess.check_output([tap, "--discover"], stderr=subprocess.DEVNULL)
    streams = json.loads(catalog)["streams"]
    return {"streams": [s for s in streams if s["tap_stream_id"] == "leads"]}


def build_tap(folder: Path) -> Path:
    """Install this tap as it is locked, without what only its developers need.

    Returns:
        The folder of its programs.
    """
    # Without reinstalling, uv may take a wheel of older code from its cache.
    reinstall = ("--reinstall-package", "tap-leadintent")
    uv(
        *("sync", "--frozen", "--no-dev", "--no-editable", "--compile-bytecode"),
        *("--project", PEERS.parents[2], "--python", sys.executable, *reinstall),
        UV_PROJECT_ENVIRONMENT=str(folder),
    )
    return folder / "bin"


def build_peer(peer: str, folder: Path) -> Path:
    """Install what `peers/<peer>.txt` requires; give the folder of its programs."""
    return build(PEERS / f"{peer}.txt", folder)


class Clients:
    """All clients, with the environments that they run in."""

    def __init__(self, folder: Path) -> None:
        """Build the environments.

        Args:
            folder: Where to put them, for as long as the clients are used.
        """
        programs = build_tap(folder / "tap")
        self._plain = build_peer("plain_sdk", folder / "plain_sdk")
        self._dlt = build_peer("dlt_leads", folder / "dlt")
        self._airbyte = build_peer("airbyte_leads", folder / "airbyte")
        self._bare = (programs / "python", PEERS / "bare.py", _CONFIG)
        program, catalog = programs / "tap-leadintent", folder / "leads"
        catalog.write_text(json.dumps(leads_only(program)), encoding="utf-8")
        self._tap = (program, "--config", _CONFIG, "--catalog", catalog)

    def tap(self, concurrency: int) -> Client:
        """Return this tap, reading the whole history by windows."""
        settings = {
            "start_date": format_time(_OPTIONS.begin),
            # So that it reads one time range, as the others do.
            "end_date": format_time(_OPTIONS.start),
            "concurrency": concurrency,
        }
        return Client(f"this tap, `concurrency` {concurrency}", self._tap, settings)

    def defaults(self) -> Client:
        """Return a first load with this tap's defaults, which reads both ranges."""
        settings = {"start_date": format_time(_OPTIONS.begin)}
        name = "this tap with its defaults, first load, both ranges"
        return Client(name, self._tap, settings)

    def bare(self, threads: int) -> Client:
        """Return the bare loop."""
        cut = {"slices": slices(threads)}
        return Client(f"bare loop, {threads} threads", self._bare, cut)

    def plain_sdk(self) -> Client:
        """Return the tap as the SDK's template makes it, one chain."""
        program = (self._plain / "python", PEERS / "plain_sdk.py")
        return Client("plain SDK tap", (*program, "--config", _CONFIG))

    def dlt(self, threads: int) -> Client:
        """Return dlt's source, whose rows are printed."""
        program = (self._dlt / "python", PEERS / "dlt_leads.py", _CONFIG)
        name = f"dlt rest_api without a destination, {threads} threads"
        return Client(name, program, {"slices": slices(threads)})

    def airbyte(self, threads: int) -> Client:
        """Return a connector of Airbyte's low-code CDK, whose messages are printed."""
        program = (self._airbyte / "python", PEERS / "airbyte_leads.py", _CONFIG)
        name = f"Airbyte low-code CDK without a destination, {threads} threads"
        return Client(name, program, {"slices": slices(threads)})
