"""What was emitted last of a record and is unchanged is not emitted again."""

from tap_leadintent.api.page import Page
from tests.support.shaping import shaper

WINDOW_END = "2026-01-01T00:00:00.000000Z"


def page(*records: tuple[int, str]) -> Page:
    data = ",".join(f'{{"id": "{key}", "title": "{text}"}}' for key, text in records)
    return Page.of(f'{{"data": [{data}], "cursor": {{"has_more": false}}}}'.encode())


def test_it_remembers_the_first_130_000_and_keeps_up_with_their_changes() -> None:
    leads = shaper("leads")

    def new(*records: tuple[int, str]) -> list[str]:
        rows = leads.shape_page(page(*records).decode(), WINDOW_END)
        return [row["id"] for row in rows]

    assert len(new(*((number, "a") for number in range(130_001)))) == 130_001
    assert new((0, "a"), (129_999, "a")) == []
    assert new((130_000, "a"), (130_000, "a")) == ["130000", "130000"]
    assert new((0, "b"), (0, "b")) == ["0"]
