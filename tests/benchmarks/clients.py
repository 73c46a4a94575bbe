"""The programs that are compared: how each is told what to read."""

from __future__ import annotations

import json
import platform
import subprocess
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tap_leadintent.sandbox.options import Options, three_weeks_ago
from tap_leadintent.sandbox.times import format_time

from .environments import PEERS, build_peer, build_tap

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
    """Give the catalog of a program of the tap, with the leads alone."""
    told = subprocess.check_output([tap, "--discover"], stderr=subprocess.DEVNULL)
    streams = json.loads(told)["streams"]
    return {"streams": [s for s in streams if s["tap_stream_id"] == "leads"]}


class Clients:
    """All clients, with the environments that they run in."""

    def __init__(self, folder: Path) -> None:
        """Build the environments.

        Args:
            folder: Where to put them, for as long as the clients are used.
        """
        self.tap_environment = build_tap(folder / "tap")
        self._plain = build_peer("plain_sdk", folder / "plain_sdk")
        self._dlt = build_peer("dlt_leads", folder / "dlt")
        self._airbyte = build_peer("airbyte", folder / "airbyte")
        self.tap_program = self.tap_environment.programs / "tap-leadintent"
        self._bare = (self.tap_environment.python, PEERS / "bare.py", _CONFIG)
        self._catalog = folder / "catalog.json"
        self._catalog.write_text(
            json.dumps(leads_only(self.tap_program)), encoding="utf-8"
        )

    def versions(self) -> dict[str, str]:
        """Give the versions of what matters, by name."""
        own = ("tap-leadintent", "singer-sdk", "msgspec", "requests", "urllib3")
        return {
            "Python": platform.python_version(),
            **{package: self.tap_environment.version(package) for package in own},
            "dlt": self._dlt.version("dlt"),
            "airbyte-cdk": self._airbyte.version("airbyte-cdk"),
            "singer-sdk of the plain tap": self._plain.version("singer-sdk"),
        }

    def tap(self, concurrency: int, **settings: Any) -> Client:
        """Give this tap, reading the whole history by windows."""
        return Client(
            f"this tap, `concurrency` {concurrency}",
            (self.tap_program, "--config", _CONFIG, "--catalog", self._catalog),
            {
                "start_date": format_time(_OPTIONS.begin),
                # So that it reads one time range, as the others do.
                "end_date": format_time(_OPTIONS.start),
                "concurrency": concurrency,
                **settings,
            },
        )

    def bare(self, threads: int = 1) -> Client:
        """Give the bare loop."""
        name = "bare loop" + _threads(threads)
        return Client(name, self._bare, _sliced(threads))

    def undecoded(self, threads: int) -> Client:
        """Give the loop that decodes nothing, to show what the sandbox can serve."""
        name = "nothing decoded" + _threads(threads)
        return Client(name, self._bare, {**_sliced(threads), "decode": False})

    def plain_sdk(self) -> Client:
        """Give the tap as the SDK's template makes it, one chain."""
        program = (self._plain.python, PEERS / "plain_sdk.py")
        return Client("plain SDK tap", (*program, "--config", _CONFIG))

    def dlt(self, threads: int = 1, *, files: bool) -> Client:
        """Give dlt, with a pipeline that makes files or its source alone."""
        kind = "extract and normalize" if files else "source alone"
        return Client(
            f"dlt rest_api, {kind}" + _threads(threads),
            (self._dlt.python, PEERS / "dlt_leads.py", _CONFIG),
            {**_sliced(threads), "files": files},
        )

    def airbyte(self, threads: int = 1) -> Client:
        """Give the declarative manifest."""
        program = (self._airbyte.programs / "source-declarative-manifest", "read")
        manifest = ("--manifest-path", PEERS / "airbyte.yaml")
        catalog = ("--catalog", PEERS / "airbyte_catalog.json")
        return Client(
            "airbyte-cdk manifest" + _threads(threads),
            (*program, *manifest, "--config", _CONFIG, *catalog),
            {"slices": slices(threads)},
        )


def _sliced(threads: int) -> dict[str, Any]:
    return {} if threads == 1 else {"slices": slices(threads)}


def _threads(threads: int) -> str:
    return "" if threads == 1 else f", {threads} threads"
