"""What the package declares as its dependencies; `deptry` compares the imports."""

import tomllib
from itertools import chain

from packaging.requirements import Requirement

from tests.support.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_each_dependency_has_an_upper_bound() -> None:
    extras = PROJECT["optional-dependencies"].values()
    declared = [*map(Requirement, chain(PROJECT["dependencies"], *extras))]
    bounded = {each.name for each in declared if "<" in str(each) or "~=" in str(each)}
    # An extra may bring another extra of the tap itself.
    assert {each.name for each in declared} - bounded == {PROJECT["name"]}
