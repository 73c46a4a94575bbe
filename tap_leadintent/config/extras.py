"""Finds settings that need a package from one of the tap's extras."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import fsspec

from tap_leadintent.config.map_expressions import Expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_S3 = frozenset({"s3", "s3a"})


def missing_packages(config: Mapping[str, Any]) -> Iterator[str]:
    """Find packages that the settings need and that are not installed.

    Args:
        config: Settings that are valid otherwise.

    Yields:
        A line for each package, beginning with the setting's name.
    """
    batch = config.get("batch_config") or {}
    if batch and batch["encoding"]["format"] == "parquet" and not find_spec("pyarrow"):
        yield f"batch_config.encoding.format: parquet {_needs('parquet')}"
    if problem := batch and _storage_problem(batch["storage"]["root"]):
        yield f"batch_config.storage.root: {problem}"
    if not find_spec("faker"):
        for name, expression in _expressions(config.get("stream_maps"), "stream_maps"):
            if _refers_to_fake(expression):
                yield f"{name}: `fake` {_needs('faker')}"


def _needs(extra: str) -> str:
    return f"needs another package: pip install 'tap-leadintent[{extra}]'"


def _storage_problem(root: str) -> str:
    protocol, is_url, _ = root.partition("://")
    if protocol in _S3 and not find_spec("s3fs"):
        return f"{protocol}:// {_needs('s3')}"
    try:
        fsspec.get_filesystem_class(protocol if is_url else "file")
    except ImportError as error:
        return str(error)
    except ValueError:
        return f"there is no storage {protocol}://; begin with file:// or s3://"
    return ""


def _expressions(maps: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(maps, str):
        yield name, maps
    elif isinstance(maps, dict):
        for key, inner in maps.items():
            yield from _expressions(inner, f"{name}.{key}")


def _refers_to_fake(expression: str) -> bool:
    try:
        return "fake" in Expression(expression).names
    except ValueError:
        return False  # `stream_maps` reports it.
