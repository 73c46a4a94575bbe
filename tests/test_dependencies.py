"""What the package declares as its dependencies; `deptry` compares the imports."""

import tomllib
from itertools import chain

from packaging.requirements import Requirement

from tests.support.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_each_dependency_has_an_upper_bound() -> None:
    extras = PROJECT["optional-dependencies"].values()
    declared = set()
    bounded = set()
    for text in chain(PROJECT["dependencies"], *extras):
        requirement = Requirement(text)
        declared.add(requirement.name)
        versions = str(requirement.specifier)
        if "<" in versions or "~=" in versions:
            bounded.add(requirement.name)
    # An extra may bring another extra of the tap itself.
    assert declared - bounded == {PROJECT["name"]}
