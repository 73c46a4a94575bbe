"""docs/sandbox.md names what there is, and no other."""

from __future__ import annotations

import re
from typing import get_args

from tap_leadintent.sandbox import __main__ as program
from tap_leadintent.sandbox import fixtures
from tap_leadintent.sandbox.api import Api
from tap_leadintent.sandbox.client import Sandbox
from tap_leadintent.sandbox.control import Control
from tap_leadintent.sandbox.faults.kinds import FaultKind
from tap_leadintent.sandbox.faults.rules import Fault
from tap_leadintent.sandbox.options import Options
from tests.support.pages import ROOT, tables

PAGE = ROOT / "docs" / "sandbox.md"
TEXT = PAGE.read_text(encoding="utf-8")
KINDS = {kind.__struct_config__.tag: kind for kind in get_args(FaultKind)}


COMMON = Fault.__struct_fields__
FIXTURES, TOLD, SWITCHES, BOUNDS, FAULTS = tables(TEXT)


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def column(table: list[dict[str, str]], name: str) -> set[str]:
    return {text for row in table for text in named(row[name])}


def test_switches() -> None:
    shown = set(re.findall(r"(?<=  )--[\w-]+", program.parser().format_help()))
    assert column(SWITCHES, "Switch") == shown


def test_defaults() -> None:
    defaults = {named(row["Switch"])[0]: named(row["Default"]) for row in SWITCHES}
    for option in ("seed", "history", "range_end", "cursor_mode", "order", "signals"):
        flag = f"--{option.replace('_', '-')}"
        assert defaults[flag] == [str(getattr(Options(), option))], flag


def test_options_of_configure() -> None:
    _, _, rest = TEXT.partition("\n`configure` takes ")
    assert {*named(rest.partition("\n")[0])} == {*Options.__struct_fields__}


def test_kinds_of_faults() -> None:
    assert column(FAULTS, "Kind") == KINDS.keys()
    for row in FAULTS:
        kind = KINDS[named(row["Kind"])[0]]
        own = [field for field in kind.__struct_fields__ if field not in COMMON]
        assert named(row["Fields of its own"]) == own
        assert row["What happens"] == kind.__doc__.splitlines()[0]


def test_what_bounds_a_fault() -> None:
    assert column(BOUNDS, "Field") == {*COMMON}


def test_what_a_sandbox_can_be_told() -> None:
    methods = {name for name in vars(Sandbox) if not name.startswith("_")} - {"close"}
    assert {named(row["Method"])[0].split("(")[0] for row in TOLD} == methods
    routes = {
        (method, route.path)
        for route in Control(Api(Options())).routes
        for method in route.methods or set()
    }
    assert {
        tuple(route.split("?")[0].split(" ")[:2])
        for row in TOLD
        for route in named(row["Route below `/_sandbox`"])
        if not route.startswith("{")
    } == {(method, path) for method, path in routes if method != "HEAD"}


def test_fixtures() -> None:
    there = {name for name in vars(fixtures) if name.startswith("leadintent_")}
    assert column(FIXTURES, "Fixture") == there


def test_the_example_is_the_one_that_is_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    folder = ROOT / "docs" / "examples" / "pytest"
    files = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    assert len(blocks) == 2
    for block in blocks:
        assert block in files
