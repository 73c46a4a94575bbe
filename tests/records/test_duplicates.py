"""What was emitted last of a record and is unchanged is not emitted again."""

from tap_leadintent.api.page import Page, Records
from tap_leadintent.records.duplicates import Duplicates


def page(*records: tuple[int, str]) -> Records:
    data = ",".join(f'{{"id": "{key}", "title": "{text}"}}' for key, text in records)
    body = f'{{"data": [{data}], "cursor": {{"has_more": false}}}}'
    return Page.of(body.encode()).decode()


def test_the_first_130_000_records_are_remembered_with_their_changes() -> None:
    duplicates = Duplicates(["id"], [])

    def new(*records: tuple[int, str]) -> list[str]:
        return [row["id"] for row in duplicates.leave_out(page(*records)).data]

    for first in range(0, 130_000, 1_000):
        assert len(new(*((first + number, "a") for number in range(1_000)))) == 1_000
    assert new((130_000, "a")) == ["130000"]
    assert new((0, "a"), (129_999, "a")) == []
    assert new((130_000, "a"), (130_000, "a")) == ["130000", "130000"]
    assert new((0, "b"), (0, "b")) == ["0"]
