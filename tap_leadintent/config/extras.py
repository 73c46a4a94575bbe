"""Finds settings that need a package from one of the tap's extras."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import fsspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_S3 = frozenset({"s3", "s3a"})
_FAKE = re.compile(r"\bfake\.")


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
    if _FAKE.search(str(config.get("stream_maps"))) and not find_spec("faker"):
        yield f"stream_maps: `fake` {_needs('faker')}"


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
