"""What the docstrings of the package name exists, so none speaks of former code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tap_leadintent

PACKAGE = Path(tap_leadintent.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

FOREIGN = {
    # of Python and C
    "Decimal",
    "malloc",
    # of the SDK's log, pytest and the environment
    "TAP_EXAMPLE_START_DATE",
    "conftest",
    "http_request_duration",
    # of Meltano
    "_schema",
    # of examples
    "a",
    "b",
    "came",
    "d",
    # of responses that an API might give
    "isSample",
    "is_sample",
    "meta",
    "took",
}
"""What docstrings name that the code of the package does not use."""


def nodes_of(path: Path) -> Iterator[ast.AST]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return ast.walk(tree)


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield what a part of the code names."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            yield name
        case ast.alias(name=name):
            yield from name.split(".")
        # Such as the name of a setting or of a field.
        case ast.Constant(value=str(text)) if re.fullmatch(r"[\w./-]+", text):
            yield from re.findall(r"\w+", text)


def names_in_code() -> set[str]:
    names = {path.stem for path in PACKAGE.rglob("*")}
    for path in MODULES:
        for node in nodes_of(path):
            names.update(names_of(node))
    return names


def docstrings_of(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


KNOWN = names_in_code() | FOREIGN


@pytest.mark.parametrize(
    "path",
    MODULES,
    ids=[str(path.relative_to(PACKAGE)) for path in MODULES],
)
def test_names_in_docstrings_exist(path: Path) -> None:
    unknown: list[str] = []
    for text in docstrings_of(path):
        for name in re.findall(r"`([A-Za-z_][\w.]*)`", text):
            parts = name.removesuffix(".py").removesuffix(".h").split(".")
            if not KNOWN.issuperset(parts):
                unknown.append(name)
    assert not unknown


def test_paths_in_docstrings_exist() -> None:
    missing: list[str] = []
    for module in MODULES:
        folders = (PACKAGE, module.parent, PACKAGE.parent)
        for text in docstrings_of(module):
            for name in re.findall(r"`([\w/]+\.py)`", text):
                if name == "conftest.py":
                    continue
                if not any((folder / name).exists() for folder in folders):
                    missing.append(f"{module.name}: {name}")
    assert not missing
