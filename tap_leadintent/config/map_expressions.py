"""Analyses expressions of stream maps without evaluating them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tap_leadintent.openapi import ADDITIONAL_PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECORD = ("record", "_")
"""Names of the whole record in an expression."""


class Expression:
    """One expression, as the SDK's mapper will evaluate it."""

    def __init__(self, text: str) -> None:
        """Parse the expression.

        Args:
            text: The expression.

        Raises:
            ValueError: The text is not an expression; the message says why.
        """
        self.text = text
        self._nodes = [*ast.walk(_parsed(text))]
        self.kinds = {type(node) for node in self._nodes if isinstance(node, ast.expr)}
        """The kinds of syntax that it uses."""
        found = [node for node in self._nodes if isinstance(node, ast.Name)]
        bound = {node.id for node in found if isinstance(node.ctx, ast.Store)}
        self.names = {node.id for node in found} - bound
        """The names that it uses and does not define itself."""
        self.fields = {name for base, name in self._looked_up() if base in _RECORD}
        """Columns that it takes from the whole record, and that must exist."""
        self.settings = {name for base, name in self._looked_up() if base == "config"}
        """The keys that it takes from `stream_map_config`."""

    def mentions(self, field: str) -> bool:
        """Tell whether the expression uses a field of the record.

        Args:
            field: Name of a field; it need not have a column.

        Returns:
            Whether it does. A literal with the same text does not count.
        """
        sources = {*_RECORD, ADDITIONAL_PROPERTIES}
        asked = {name for base, name in self._asked_for() if base in sources}
        taken = {name for base, name in self._looked_up() if base in sources}
        return field in self.names | asked | taken

    def _looked_up(self) -> Iterator[tuple[str, str]]:
        """Give base and name of each `base["name"]` and `base.name`."""
        for node in self._nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                yield _base(node.value), str(node.slice.value)
            elif isinstance(node, ast.Attribute) and not hasattr(dict, node.attr):
                yield _base(node.value), node.attr

    def _asked_for(self) -> Iterator[tuple[str, str]]:
        """Give base and name of each `base.get("name")`."""
        for node in self._nodes:
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                yield _base(node.func.value), str(node.args[0].value)


def _parsed(text: str) -> ast.Expr:
    try:
        statements = ast.parse(text).body
    except SyntaxError as error:
        raise ValueError(error.msg) from None
    except (MemoryError, RecursionError):
        msg = "it is nested too deeply"
        raise ValueError(msg) from None
    if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
        msg = "it must be one expression"
        raise ValueError(msg)
    return statements[0]


def _base(node: ast.expr) -> str:
    """Name the object that a field is taken from, also in `(name or {})`."""
    if isinstance(node, ast.BoolOp):
        node = node.values[0]
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""
