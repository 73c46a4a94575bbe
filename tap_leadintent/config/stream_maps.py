"""Checks `stream_maps` before the first request.

The SDK notices only at the first record that an expression uses an unknown name. And a
value that a map takes out of its column may remain in `additional_properties`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from singer_sdk.mapper import (
    MAPPER_ALIAS_OPTION,
    MAPPER_ELSE_OPTION,
    MAPPER_FILTER_OPTION,
    MAPPER_KEY_PROPERTIES_OPTION,
    MAPPER_SOURCE_OPTION,
    NULL_STRING,
)

from tap_leadintent.config.map_expressions import Expression
from tap_leadintent.config.suggestions import did_you_mean
from tap_leadintent.openapi import ADDITIONAL_PROPERTIES, stream_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

_OPTIONS = (
    MAPPER_ALIAS_OPTION,
    MAPPER_ELSE_OPTION,
    MAPPER_FILTER_OPTION,
    MAPPER_KEY_PROPERTIES_OPTION,
    MAPPER_SOURCE_OPTION,
)
_NOTHING = (None, NULL_STRING)
_WHAT_TO_DO = (
    "name it in exclude_fields to keep it out, or make it a column (`schema` in "
    "meltano.yml) to map it"
)


class Vocabulary(NamedTuple):
    """What an expression may use besides columns."""

    names: Collection[str]
    """Names, for example of functions."""

    settings: Collection[str]
    """Keys of `stream_map_config`."""

    syntax: Collection[type]
    """Kinds of syntax, as `ast` has them."""


class Definition:
    """One entry of the setting, for one stream."""

    def __init__(self, entry: str, definition: Mapping[str, Any]) -> None:
        """Read the definition.

        Args:
            entry: Its name in the setting.
            definition: The definition, whose expressions have been parsed before.
        """
        self._entry = entry
        self._drops_the_rest = MAPPER_ELSE_OPTION in definition
        self._keys = definition.get(MAPPER_KEY_PROPERTIES_OPTION, ...)
        self._filter = definition.get(MAPPER_FILTER_OPTION)
        self._fields = {n: d for n, d in definition.items() if n not in _OPTIONS}

    def hidden(self, columns: Collection[str], keys: Collection[str]) -> frozenset[str]:
        """List the columns that the map removes or changes.

        Args:
            columns: The columns of the stream.
            keys: Its key columns.

        Returns:
            Their names. Their values must not be in `additional_properties` either.
        """
        kept = keys if self._keys is ... else self._keys or ()
        return frozenset(
            name
            for name in columns
            if (
                self._fields[name] not in {name, "self"}
                if name in self._fields
                else self._drops_the_rest and name not in kept
            )
        )

    def problems(
        self,
        stream: str,
        columns: Collection[str],
        vocabulary: Vocabulary,
        is_left_out: Callable[[str], bool],
    ) -> Iterator[str]:
        """Check the map against the stream's columns.

        Args:
            stream: The stream.
            columns: Its selected columns.
            vocabulary: What expressions may use besides columns.
            is_left_out: Whether a field is deselected or excluded.

        Yields:
            A line for each problem, beginning with the setting's dotted name.
        """
        check = _Check(stream, columns, vocabulary, is_left_out)
        keeps_rest = ADDITIONAL_PROPERTIES in columns and (
            self._fields[ADDITIONAL_PROPERTIES] not in _NOTHING
            if ADDITIONAL_PROPERTIES in self._fields
            else not self._drops_the_rest
        )
        for name, text in self._fields.items():
            found = [
                *check.column(name, text, keeps_rest=keeps_rest),
                *(check.expression(text, itself=name) if text not in _NOTHING else ()),
            ]
            # Further problems of the same field would repeat the first.
            yield from self._told(name, found[:1])
        if self._filter is not None:
            yield from self._told(MAPPER_FILTER_OPTION, check.expression(self._filter))

    def _told(self, name: str, problems: Iterable[str]) -> Iterator[str]:
        return (f"stream_maps.{self._entry}.{name}: {each}" for each in problems)


class _Check(NamedTuple):
    stream: str
    columns: Collection[str]
    vocabulary: Vocabulary
    is_left_out: Callable[[str], bool]

    def column(self, name: str, text: str | None, *, keeps_rest: bool) -> Iterator[str]:
        """Check whether the field would stay in `additional_properties`."""
        if name in self.columns or self.is_left_out(name):
            return
        hint = did_you_mean(name, self.columns)
        if text in _NOTHING:
            if keeps_rest or hint:
                yield (
                    f"{self.stream} has no such column to remove"
                    f"{hint or f'; {_WHAT_TO_DO}'}"
                )
        elif keeps_rest and Expression(str(text)).mentions(name):
            yield (
                f"{text!r}: {self.stream} has no column {name}, so the field itself "
                f"would stay in {ADDITIONAL_PROPERTIES}{hint or f'; {_WHAT_TO_DO}'}"
            )

    def expression(self, text: str, itself: str | None = None) -> Iterator[str]:
        """Find what the expression uses but cannot."""
        expression = Expression(text)
        for kind in expression.kinds - {*self.vocabulary.syntax}:
            yield f"{text!r} uses {kind.__name__}, which map expressions cannot use"
        known = {*self.columns, *self.vocabulary.names}
        if itself in self.columns:
            known.add("self")
        unknown = {*(expression.names - known), *(expression.fields - {*self.columns})}
        for name in sorted(unknown):
            yield f"{text!r} names {name}, {self._why_not(name, known)}"
        for name in sorted(expression.settings - {*self.vocabulary.settings}):
            yield f"{text!r} needs {name} in stream_map_config"

    def _why_not(self, name: str, known: Collection[str]) -> str:
        if self.is_left_out(name):
            return "which is deselected or excluded"
        hint = did_you_mean(name, known)
        return f"which {self.stream} does not have{hint or f'; {_WHAT_TO_DO}'}"


def map_problems(maps: Mapping[str, Any]) -> Iterator[str]:
    """Check what does not depend on the columns.

    Args:
        maps: The setting, valid by its schema.

    Yields:
        A line for each problem; it continues the setting's name, such as `.leads: …`.
    """
    streams = stream_names()
    for entry, definition in maps.items():
        source = _source(entry, definition)
        if entry == MAPPER_ELSE_OPTION:
            continue
        if not any(fnmatchcase(stream, source) for stream in streams):
            hint = did_you_mean(source, [*streams, MAPPER_ELSE_OPTION])
            yield f".{entry}: there is no stream {source}{hint}"
        elif isinstance(definition, dict):
            for name, text in definition.items():
                if problem := _problem(name, text):
                    yield f".{entry}.{name}: {problem}"


def _problem(name: str, text: object) -> str | None:
    if name.startswith("__") and name not in _OPTIONS:
        return f"there is no such option{did_you_mean(name, _OPTIONS)}"
    is_expression = name == MAPPER_FILTER_OPTION or name not in _OPTIONS
    if not is_expression or not isinstance(text, str) or text in _NOTHING:
        return None
    try:
        Expression(text)
    except ValueError as error:
        return f"{text!r} is not an expression: {error}"
    return None


def maps_of(maps: Mapping[str, Any], stream: str) -> list[Definition | None]:
    """Find the maps of a stream.

    Args:
        maps: The setting, already checked.
        stream: The stream.

    Returns:
        Its maps in the order of the SDK's mapper: first the stream's own map, or None
        without one, then those with the stream as `__source__`.
    """
    own: Definition | None = None
    others: list[Definition | None] = []
    for entry, definition in maps.items():
        if not fnmatchcase(stream, _source(entry, definition)):
            continue
        found = Definition(entry, definition) if isinstance(definition, dict) else None
        if isinstance(definition, dict) and MAPPER_SOURCE_OPTION in definition:
            others.append(found)
        else:
            own = found
    return [own, *others]


def _source(entry: str, definition: object) -> str:
    if isinstance(definition, dict):
        return str(definition.get(MAPPER_SOURCE_OPTION, entry))
    return entry
