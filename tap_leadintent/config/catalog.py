"""Checks a catalog before the first request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL

from tap_leadintent.config.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from singer_sdk import Stream

_METHODS = (REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL)

_NOTHING = (
    "no stream is selected; in Meltano add rules such as leads.* to select, elsewhere "
    'put "selected": true into the metadata of a stream'
)


def catalog_problems(selected: Sequence[Stream]) -> list[str]:
    """Check what a catalog says about the selected streams.

    Args:
        selected: The selected streams, to which the catalog has been applied.

    Returns:
        A line for each problem.
    """
    problems = [problem for stream in selected for problem in _problems(stream)]
    return [f"catalog: {line}" for line in problems] if selected else [_NOTHING]


def _problems(stream: Stream) -> Iterator[str]:
    """Check one stream; the SDK accepts any value here."""
    method = stream.replication_method
    if method not in _METHODS:
        yield (
            f"{stream.name}: there is no replication method {method}; choose one of "
            f"{', '.join(_METHODS)}"
        )
    columns = stream.effective_schema.get("properties", {})
    named = {
        "replication key": (stream.replication_key,),
        "key column": stream.primary_keys,
    }
    for role, names in named.items():
        for name in names:
            if name is not None and name not in columns:
                hint = did_you_mean(name, columns) or "; choose a column of its schema"
                yield f"{stream.name}: the {role} {name} is not a column{hint}"
