"""What is checked of the settings that the SDK adds, beyond its schema of them."""

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
    """Leave the texts out of a schema's `anyOf` lists, where only schemas may stand.

    The SDK puts `"null"` there for `__else__` of `stream_maps`, and the validator fails
    on it.

    Args:
        schema: A JSON schema, or a part of one.

    Returns:
        The same without them.
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
    """Check the settings of flattening against one another.

    Args:
        config: Settings that fit their schema.

    Yields:
        A line for each problem, beginning with the setting's name.
    """
    # The SDK takes -1 for absent.
    depth = config.get("flattening_max_depth", -1)
    if config.get("flattening_enabled") and depth == -1:
        yield "flattening_max_depth: is required with flattening_enabled"


def batch_problems(batch: Mapping[str, Any]) -> Iterator[str]:
    """Check that batches can be made as `batch_config` says.

    Args:
        batch: The setting, as it fits its schema; without content it sets nothing.

    Yields:
        What is wrong, beginning with the dotted rest of the setting's name.
    """
    if not batch:
        return
    parts = {part: batch.get(part) or {} for part in _BATCH_PARTS}
    unknown = [*_unknown(BatchConfig, batch, ".")]
    for part, kind in _BATCH_PARTS.items():
        unknown += _unknown(kind, parts[part], f".{part}.")
    # What is missing may be there under a misspelt name.
    yield from unknown or (
        f".{part}.{name}: is required"
        for part, name in _BATCH_NEEDS
        if not parts[part].get(name)
    )


def _unknown(kind: type, given: Mapping[str, Any], prefix: str) -> Iterator[str]:
    known = [field.name for field in fields(kind)]
    return (f"{prefix}{problem}" for problem in unknown_settings(given, known))
