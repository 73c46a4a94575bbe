"""Python environments of this tap and of the peers, each with packages of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.environments import Environment, build, uv

PEERS = Path(__file__).with_name("peers")
_PROJECT = PEERS.parents[2]


def build_tap(folder: Path) -> Environment:
    """Install this tap as it is locked, without what only its developers need."""
    # Without reinstalling, uv may take a wheel of older code from its cache.
    reinstall = ("--reinstall-package", "tap-leadintent")
    uv(
        *("sync", "--frozen", "--no-dev", "--no-editable", "--compile-bytecode"),
        *("--project", _PROJECT, "--python", sys.executable, *reinstall),
        UV_PROJECT_ENVIRONMENT=str(folder),
    )
    return Environment(folder)


def build_peer(peer: str, folder: Path) -> Environment:
    """Install what `peers/<peer>.txt` requires."""
    return build(PEERS / f"{peer}.txt", folder)
