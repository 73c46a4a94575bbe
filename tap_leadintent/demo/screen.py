"""What the demo shows: on the terminal, and in a picture of it."""

from __future__ import annotations

import io
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rich.console import RenderableType

_WIDTH_OF_A_PICTURE = 100


class Screen:
    """The terminal, and the same lines at a fixed width for a picture."""

    def __init__(self) -> None:
        """Show on standard output."""
        self.console = Console(highlight=False)
        self._picture = Console(
            record=True,
            file=io.StringIO(),
            width=_WIDTH_OF_A_PICTURE,
            force_terminal=True,
            color_system="truecolor",
            highlight=False,
            # What the environment says of colours is about the terminal.
            _environ={},
        )

    def show(self, *parts: RenderableType) -> None:
        """Show texts (with markup), tables and other things, one below the other."""
        for console in (self.console, self._picture):
            console.print(*parts, sep="\n")

    @contextmanager
    def step(
        self, text: str, *, counts: bool = False, total: int | None = None
    ) -> Iterator[Callable[[int], None]]:
        """Say what happens now, then how long it took.

        Args:
            text: What happens.
            counts: Whether it will be said how much is done.
            total: How much there is to do, if that is known.

        Yields:
            Takes how much is done.
        """
        began = time.monotonic()
        counting = (BarColumn(20), MofNCompleteColumn()) if counts else ()
        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *counting,
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        ) as progress:
            task = progress.add_task(text, total=total)
            yield lambda done: progress.update(task, completed=done)
        line = Text.assemble((f"{time.monotonic() - began:6.1f} s  ", "dim"), text)
        self.show(line)

    def save(self, path: Path) -> None:
        """Save the picture.

        Args:
            path: The SVG file.
        """
        self._picture.save_svg(str(path), title="tap-leadintent-demo")


def titled(title: str, part: RenderableType) -> Padding:
    """Put a title above something, with air around it."""
    return Padding(Group(Text(title, "bold"), part), (1, 0, 0, 0), expand=False)
