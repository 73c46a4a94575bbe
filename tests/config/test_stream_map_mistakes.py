"""The SDK's setting `stream_maps`: what is wrong with a map is one line, too."""

from collections.abc import Callable
from typing import Any

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, VALID, each_entry, each_reading_entry

MISSPELT: list[tuple[dict[str, Any], str]] = [
    ({"user": {"id": "id"}}, ".user: there is no stream user"),
    ({"lead": None}, ".lead: there is no stream lead; did you"),
    ({"monitor*": None, "moniter*": None}, ".moniter*: there is no stream"),
    ({"people": {"__source__": "lead"}}, ".people: there is no stream lead"),
    (
        {"leads": {"__filtre__": "title"}},
        ".leads.__filtre__: there is no such option; did you mean __filter__?",
    ),
    (
        {"leads": {"ful_name": None, "email": None}},
        ".leads.ful_name: there is no such field; did you mean full_name?",
    ),
    (
        {"lead*": {"ful_name": None}},
        ".lead*.ful_name: there is no such field; did you mean full_name?",
    ),
    ({"leads": {"titel": "__NULL__"}}, ".leads.titel: there is no such field; did"),
    ({"leads": {"email": ["a"]}}, ".leads.email: must be an expression, or null"),
    ({"leads": {"email": ""}}, ".leads.email: must be an expression, or null"),
]
BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"leads": {"x": "1 +"}}, ": Failed to parse expression 1 +."),
    ({"leads": {"x": f"{API_KEY}\n)"}}, ": Failed to parse expression ***"),
    ({"leads": {"id": None}}, ": Removing key property 'id' is not permitted"),
    ({"__else__": {"x": "1"}}, ": "),
    ({"leads": {"__key_properties__": ["x"]}}, ": Invalid key properties for 'leads'"),
]


@each_entry
@pytest.mark.parametrize(("maps", "line"), MISSPELT, ids=str)
def test_a_misspelt_name(
    refused: Callable[..., list[str]],
    maps: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    (told,) = refused({"stream_maps": maps}, *arguments)
    assert told.startswith(f"stream_maps{line}")


@each_reading_entry
@pytest.mark.parametrize(("maps", "line"), BROKEN, ids=str)
def test_a_map_that_cannot_work(
    refused: Callable[..., list[str]],
    maps: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    """Discovery cannot know: maps apply to the catalog that is made of its own."""
    (told,) = refused({"stream_maps": maps}, *arguments)
    assert told.startswith(f"stream_maps{line}")


def test_what_a_tap_raises_in_python_does_not_hold_the_key() -> None:
    maps = {"leads": {"x": f"'{API_KEY}' + ((("}}
    with pytest.raises(ConfigError, match=r"stream_maps: .*\*\*\*") as refusal:
        TapLeadIntent(config={**VALID, "stream_maps": maps})
    assert API_KEY not in str(refusal.value)
