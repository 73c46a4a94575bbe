"""Each package that the tap imports is declared, not only brought by another."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain

import grimp
import pytest

from tests.support.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TAP, EXTRAS = PROJECT["dependencies"], PROJECT["optional-dependencies"]
OF_EXTRAS = ("sandbox", "demo")
"""Rooms that come with an extra of the same name; the tap does not import them."""


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _name(requirement: str) -> str:
    return _normalised(re.split(r"[^\w.-]", requirement)[0])


def _imported() -> dict[str, set[str]]:
    """Return the distributions that each room of the package imports."""
    graph = grimp.build_graph("tap_leadintent", include_external_packages=True)
    distributions = packages_distributions()
    imported: dict[str, set[str]] = {}
    for module in graph.modules:
        package, _, inside = module.partition(".")
        if package != "tap_leadintent":
            continue
        room = inside.partition(".")[0]
        for name in graph.find_modules_directly_imported_by(module):
            top = name.partition(".")[0]
            if top != package and top not in sys.stdlib_module_names:
                found = _normalised(distributions[top][0])
                imported.setdefault(room, set()).add(found)
    return imported


IMPORTED = _imported()


@pytest.mark.parametrize("room", sorted(IMPORTED))
def test_a_room_imports_what_is_declared(room: str) -> None:
    declared = [*TAP]
    if room in OF_EXTRAS:
        declared += EXTRAS["sandbox"] + EXTRAS[room]
    names = {_name(each) for each in declared}
    # The sandbox's fixtures are for pytest, which imports them.
    fixtures = {"pytest"} if room == "sandbox" else set()
    assert IMPORTED[room] - names == fixtures


def test_each_dependency_has_an_upper_bound() -> None:
    declared = [*TAP, *chain.from_iterable(EXTRAS.values())]
    bounded = {_name(each) for each in declared if re.search("<|~=", each)}
    # An extra may bring another extra of the tap itself.
    assert {_name(each) for each in declared} - bounded == {PROJECT["name"]}
