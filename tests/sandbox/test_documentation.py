"""The page of the sandbox names exactly the faults and options that exist."""

import re

from tap_leadintent.sandbox.faults import KINDS, Fault
from tap_leadintent.sandbox.options import Options
from tests.support.pages import ROOT, tables

TEXT = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")
ROWS, FIELDS = tables(TEXT)


def named(text: str) -> list[str]:
    return re.findall(r"`([a-z_]+)`", text)


def test_the_page_names_all_faults_and_their_fields() -> None:
    assert [name for row in ROWS for name in named(row["`kind`"])] == [*KINDS]
    own = {name for row in ROWS for name in named(row["What happens"])} - {"has_more"}
    bounds = {name for row in FIELDS for name in named(row["Field"])}
    assert own | bounds | {"kind"} == {*Fault.__struct_fields__}


def test_the_page_names_all_options() -> None:
    _, _, following = TEXT.partition(", which `--help` explains: ")
    assert named(following.partition("\n")[0]) == [*Options.__struct_fields__]
