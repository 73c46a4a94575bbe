"""The private methods of the SDK that the tap uses are there, and called."""

import ast
import inspect
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from singer_sdk import Stream, plugin_base

import tap_leadintent
from tap_leadintent import singer
from tap_leadintent.singer.stream import SingerStream
from tap_leadintent.singer.stream_map import StreamMap
from tap_leadintent.singer.tap import SingerTap
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID

PACKAGE = Path(tap_leadintent.__file__).parent
CONFIG = {**VALID}

OTHER_ARGUMENTS = {"invoke", "log"}
"""The SDK's command line calls the first by the names of the options."""


def overridden_names(owner: type) -> list[str]:
    """Return the methods of a class that are marked with `override`."""
    names = []
    for name, method in vars(owner).items():
        function = getattr(method, "__func__", method)
        is_override = getattr(function, "__override__", False)
        if is_override and name not in OTHER_ARGUMENTS:
            names.append(name)
    return names


OVERRIDDEN: list[tuple[type, str]] = []
for _owner in (SingerStream, SingerTap, StreamMap):
    for _name in overridden_names(_owner):
        _method = (_owner, _name)
        OVERRIDDEN.append(_method)

USED: list[tuple[Any, str, str]] = [
    (Stream, "_check_max_record_limit", "self current_record_index"),
    (Stream, "_generate_record_messages", "self record"),
]


def parameters(method: Callable[..., object]) -> list[str]:
    return list(inspect.signature(method).parameters)


@pytest.mark.parametrize(("owner", "name"), OVERRIDDEN)
def test_an_overridden_method_accepts_the_arguments_of_the_sdk(
    owner: type,
    name: str,
) -> None:
    theirs = getattr(super(owner, owner), name)
    assert parameters(getattr(owner, name)) == parameters(theirs)


@pytest.mark.parametrize(("owner", "name", "expected"), USED)
def test_a_private_method_in_use_accepts_the_arguments_passed(
    owner: Any,
    name: str,
    expected: str,
) -> None:
    assert parameters(getattr(owner, name)) == expected.split()


def test_the_command_line_has_the_options_that_the_tap_changes() -> None:
    names = {option.name for option in TapLeadIntent.get_singer_command().params}
    assert names >= {"config", "state", "catalog", "discover", "test"}


def test_the_command_line_hides_the_sdks_lines_about_its_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    TapLeadIntent(
        config={},
        validate_config=False,
    )
    assert caplog.records
    for record in caplog.records:
        assert record.pathname == plugin_base.__file__


def test_the_attributes_in_use_are_there() -> None:
    tap = TapLeadIntent(
        config={**CONFIG},
        validate_config=False,
    )
    stream = tap.streams["leads"]
    assert tap.config == tap._config != VALID  # noqa: SLF001
    assert stream._tap is tap  # noqa: SLF001
    assert stream.stream_state == {}
    assert stream._stream_version is None  # noqa: SLF001
    # In 0.54 a logger, in 0.55 an adapter: the tap's own streams have a logger.
    assert isinstance(stream.logger, logging.Logger)


PUBLIC = {"_exit", "_replace"}
"""Names that `os` and named tuples document."""


def private_names(module: ast.Module) -> set[str]:
    """Return the private names that a module uses and does not define, or overrides.

    Ruff sees neither inherited attributes nor overridden methods.
    """
    used = set[str]()
    own = {*PUBLIC}
    overridden = set[str]()
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                own.add(name)
                if "override" in map(ast.unparse, node.decorator_list):
                    overridden.add(name)
            case ast.Attribute(ast.Name("self"), attr=name, ctx=ast.Store()):
                own.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                own.add(name)
            case ast.Attribute(attr=name):
                used.add(name)
            case ast.ImportFrom(module=str(name)):
                used.update(name.split("."))
                for imported in node.names:
                    used.add(imported.name)
    return {name for name in used - own | overridden if re.match("_[^_]", name)}


def test_private_parts_of_other_packages_are_used_in_singer_alone() -> None:
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        module = ast.parse(path.read_text("utf-8"))
        names = private_names(module)
        if names:
            found.setdefault(path.parent.name, set())
            found[path.parent.name] |= names
    listed = singer.__doc__ or ""
    assert found.keys() == {"singer"}
    for name in found["singer"]:
        assert name in listed
