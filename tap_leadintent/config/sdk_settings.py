"""Checks the settings that the SDK adds, where its schema allows too much."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from singer_sdk.helpers._batch import (
    BaseBatchFileEncoding,
    BatchConfig,
    StorageTarget,
)

from tap_leadintent.config.suggestions import unknown_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BATCH_PARTS = {"encoding": BaseBatchFileEncoding, "storage": StorageTarget}
_BATCH_NEEDS = (("encoding", "format"), ("storage", "root"))


def repaired(schema: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Remove texts from a schema's `anyOf` lists, which may hold schemas only.

    The SDK puts the text "null" there, for `__else__` of `stream_maps`, and the
    validator fails on it.

    Args:
        schema: A JSON schema, or a part of one.

    Returns:
        A copy without these texts.
    """
    if isinstance(schema, list):
        return [repaired(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: repaired(
            [option for option in part if isinstance(option, dict)]
            if name == "anyOf"
            else part
        )
        for name, part in schema.items()
    }


def flattening_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Check that the settings of flattening fit together.

    Args:
        config: Settings that are valid by their schema.

    Yields:
        A line for each problem, beginning with the setting's name.
    """
    # For the SDK, -1 means that there is no depth.
    depth = config.get("flattening_max_depth", -1)
    if config.get("flattening_enabled") and depth == -1:
        yield "flattening_max_depth: is required with flattening_enabled"


def batch_problems(batch: Mapping[str, Any]) -> Iterator[str]:
    """Check `batch_config`.

    Args:
        batch: The setting, valid by its schema; empty means no batches.

    Yields:
        A line for each problem; it continues the setting's name, such as `.storage: …`.
    """
    if not batch:
        return
    parts = {part: batch.get(part) or {} for part in _BATCH_PARTS}
    unknown = [*_unknown(BatchConfig, batch, ".")]
    for part, kind in _BATCH_PARTS.items():
        unknown += _unknown(kind, parts[part], f".{part}.")
    # A missing name may be there under a misspelt one, which is reported first.
    yield from unknown or (
        f".{part}.{name}: is required"
        for part, name in _BATCH_NEEDS
        if not parts[part].get(name)
    )


def _unknown(kind: type, given: Mapping[str, Any], prefix: str) -> Iterator[str]:
    known = [field.name for field in fields(kind)]
    return (f"{prefix}{problem}" for problem in unknown_settings(given, known))
