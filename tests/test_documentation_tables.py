"""`docs/tables.md` says what the streams' schemas say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.tables_page import CLOCK, PAGE, page

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox


def test_the_page_is_made_of_the_schemas(sandbox: Sandbox) -> None:
    sandbox.configure(clock=CLOCK)
    assert PAGE.read_text(encoding="utf-8") == page(sandbox)
