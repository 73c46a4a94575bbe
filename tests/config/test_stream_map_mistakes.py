"""The SDK's setting `stream_maps`: what is wrong with a map is one line, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import (
    API_KEY,
    each_entry,
    each_reading_entry,
)

if TYPE_CHECKING:
    from collections.abc import Callable


NO_STREAM = "there is no stream"
NO_EXPRESSION = "is not an expression:"

BROKEN_MAPS: list[tuple[dict[str, Any], str]] = [
    ({"user": {"id": "id"}}, f".user: {NO_STREAM} user"),
    ({"lead": None}, f".lead: {NO_STREAM} lead; did you mean leads?"),
    ({"monitor*": None, "moniter*": None}, f".moniter*: {NO_STREAM} moniter*"),
    (
        {"people": {"__source__": "lead"}},
        f".people: {NO_STREAM} lead; did you mean leads?",
    ),
    ({"__elsewhere__": None}, f".__elsewhere__: {NO_STREAM} __elsewhere__"),
    (
        {"leads": {"__filtre__": "title"}},
        ".leads.__filtre__: there is no such option; did you mean __filter__?",
    ),
    ({"leads": {"x": "1 +"}}, f".leads.x: '1 +' {NO_EXPRESSION} invalid syntax"),
    (
        {"leads": {"x": "md5(title"}},
        f".leads.x: 'md5(title' {NO_EXPRESSION} '(' was never closed",
    ),
    ({"leads": {"x": ""}}, f".leads.x: '' {NO_EXPRESSION} it must be one expression"),
    ({"leads": {"x": "a = 1"}}, f".leads.x: 'a = 1' {NO_EXPRESSION} it must be one"),
    ({"leads": {"x": "id; id"}}, f".leads.x: 'id; id' {NO_EXPRESSION} it must be one"),
    ({"custom*": {"x": "1 +"}}, f".custom*.x: '1 +' {NO_EXPRESSION} invalid syntax"),
    (
        {"leads": {"__filter__": f"{API_KEY}\n)"}},
        f".leads.__filter__: '***\\n)' {NO_EXPRESSION} ",
    ),
]

MAPS: list[tuple[dict[str, Any], str]] = [
    (
        {"leads": {"id": None}},
        ": Removing key property 'id' is not permitted in 'leads'",
    ),
    ({"leads": {"__key_properties__": ["x"]}}, ": Invalid key properties for 'leads'"),
]


@each_entry
@pytest.mark.parametrize(
    ("maps", "line"), BROKEN_MAPS, ids=[str(maps) for maps, _ in BROKEN_MAPS]
)
def test_an_invalid_stream_map(
    refused: Callable[..., list[str]],
    maps: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    (told,) = refused({"stream_maps": maps}, *arguments)
    assert told.startswith(f"stream_maps{line}")


@each_reading_entry
@pytest.mark.parametrize(("maps", "line"), MAPS, ids=[str(maps) for maps, _ in MAPS])
def test_a_stream_map_that_cannot_work(
    refused: Callable[..., list[str]],
    maps: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    """Discovery cannot know: maps apply to the catalog that is made of its own."""
    (told,) = refused({"stream_maps": maps}, *arguments)
    assert told.startswith(f"stream_maps{line}")
