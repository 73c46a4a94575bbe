"""The page of the sandbox names exactly the faults and their fields that exist."""

import re

from tap_leadintent.sandbox.faults import KINDS, Fault
from tests.support.pages import tables, text_of

TEXT = text_of("docs/sandbox.md")


def named(text: str) -> list[str]:
    return re.findall(r"`([a-z_]+)`", text)


def test_the_page_names_all_faults_and_their_fields() -> None:
    (rows,) = tables(TEXT)
    kinds: list[str] = []
    own: set[str] = set()
    for row in rows:
        kinds += named(row["`kind`"])
        own |= {*named(row["What happens"])}
    assert kinds == [*KINDS]
    own.discard("date_found")
    before, _, _ = TEXT.partition(" say which requests are affected")
    _, _, line = before.rpartition("\n")
    bounds = {*named(line)}
    fields = own | bounds | {"kind"}
    assert fields == {*Fault.__struct_fields__}
