"""Finds settings that need a package from one of the tap's extras."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FAKE = re.compile(r"\bfake\.")


def missing_packages(config: Mapping[str, Any]) -> Iterator[str]:
    """Find packages that the settings need and that are not installed.

    Args:
        config: Settings that are valid otherwise.

    Yields:
        A line for each package, beginning with the setting's name.
    """
    if _FAKE.search(str(config.get("stream_maps"))) and not find_spec("faker"):
        yield (
            "stream_maps: `fake` needs another package: pip install "
            "'tap-leadintent[faker]'"
        )
