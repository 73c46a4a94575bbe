"""Tables and bars of the demo, on whatever terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from tap_leadintent.demo.report import histogram, table

if TYPE_CHECKING:
    from rich.console import RenderableType

ROWS = [
    (96, "渡邉さくら " * 3, "Head of Revenue Operations", "New leader: " * 20),
    (7, None, "a\nb\x1b[31mred\x07", "[bold]no markup[/bold]"),
]
HEADER = ("score", "lead", "title", "signal")


def drawn(part: RenderableType, width: int, **options: Any) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, **options).print(part)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_row_is_a_line_and_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = drawn(table(HEADER, ROWS, (None, 2, 2, 3)), width)
    assert len(lines) == 1 + len(ROWS)
    assert max(map(cell_len, lines)) <= width
    assert lines[1].startswith("   96  ")


def test_what_the_api_says_is_neither_markup_nor_control() -> None:
    (_, line) = drawn(table(HEADER, ROWS[1:]), 200)
    assert " ".join(line.split()) == "7 a b [31mred [bold]no markup[/bold]"


def test_a_table_without_rows_has_its_header() -> None:
    assert drawn(table(("table", "more"), []), 40) == ["table  more"]


def test_bars_are_as_long_as_their_numbers() -> None:
    lines = drawn(histogram([("high", 1000), ("low", 500)]), 80)
    high, low = (line.count("━") for line in lines)
    assert high == 24
    assert low == 12
    assert lines[0].startswith("high 1,000 ━")


def test_bars_of_nothing() -> None:
    assert drawn(histogram([]), 80) == []


def test_without_colours_bars_still_differ() -> None:
    options: dict[str, Any] = {"force_terminal": True, "no_color": True}
    lines = drawn(histogram([("high", 10), ("low", 5)]), 80, **options)
    assert "".join(lines).count("━") == 24 + 12
