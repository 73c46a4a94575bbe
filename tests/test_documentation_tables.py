"""`docs/tables.md` says what the streams' schemas say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import STREAMS, declared_stream
from tests.support.pages import ROOT, section, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE = ROOT / "docs" / "tables.md"
TYPES = {
    "string": ("text", "VARCHAR"),
    "date-time": ("timestamp", "TIMESTAMP_NTZ"),
    "object": ("jsonb", "VARIANT"),
}


def columns(properties: Mapping[str, Any], within: str = "") -> Iterator[list[str]]:
    """Give the rows of a page's table: name and types."""
    for name, column in properties.items():
        kinds = column["type"]
        kind = column.get("format", kinds if isinstance(kinds, str) else kinds[0])
        types = ("", "") if within else TYPES[kind]
        yield [f"`{within}{name}`", *types]
        yield from columns(column.get("properties", {}), f"{within}{name}.")


@pytest.mark.parametrize("name", STREAMS)
def test_the_page_has_every_column_with_its_types(name: str) -> None:
    stream = declared_stream(name)
    described = name in {"signal_agents", "leads"}
    told = section(PAGE, f"## {name}" if described else "## The other streams")
    rows = [[*row.values()][:3] for row in tables(told)[0]]
    expected = [*columns(stream.schema["properties"])]
    if described:
        assert rows == expected
    else:
        assert sorted(row for row in rows if row in expected) == sorted(expected)
        (row,) = (row for row in tables(told)[1] if row["Table"] == f"`{name}`")
        ranges = ", ".join(f"`{each}`" for each in stream.ranges)
        assert row["Time ranges"] == ranges
